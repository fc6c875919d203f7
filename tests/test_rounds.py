"""The rounds of labelled programs: silent failures and their healthy look-alikes, each after a public report, written
without a look at the rules. What was found at first stands in docs/measured/rounds.md; what is found now, here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.curing import cured
from programs import score

ROUNDS = Path(__file__).parent / "programs" / "rounds"
CASES = {(case["case"], folder): case for folder in sorted(ROUNDS.iterdir()) for case in score.cases_in(folder)}

NOT_YET_FOUND = {
    "silent_neighbour_max_pooling": "zeros of a buffer take part in a maximum, as they may be meant to",
    "silent_image_tokens_merged": "a mask in another order than its source, which only their meaning tells",
    "silent_recall_reported_every_epoch": "an attribute divided under a local name, between two that count on it",
    "silent_weight_average_in_bfloat16": "small updates rounded away: a factor of 1 leaves the values alone as well",
    "silent_shift_from_conjugated_spectrum": "two attributes on one memory, written and read by two methods",
    "silent_tissue_classes_renumbered": "the mask is larger than what is kept of values",
    "silent_decoder_committee_on_one_prefix": "each pass of a loop writes its argument, and the loop hands it on",
    "silent_contrast_branch_in_one_cache": "two dictionaries of keyword arguments hold one cache",
    "silent_accuracy_of_each_epoch": "a default is the live state, by a name that only `setattr` knows",
    "silent_statistics_at_the_sharp_point": "a second forward at other weights may well be meant to count",
    "silent_export_in_the_middle_of_training": "a fold writes the weights that it was given, as folds do",
    "silent_memory_of_the_last_episode": "a state that nobody resets may be meant to last",
    "silent_filters_dropped_in_mid_training": "momentum writes what was set to zero, as it writes everything",
    "silent_noise_nodes_of_a_workflow": "one tensor under two keys of an object's store, filled nobody knows when",
    "silent_oversized_splats_removed": "set to zero before the last values were read, as many states are",
    "silent_positions_after_one_long_recording": "a buffer that a condition overwrites for good may be meant to",
    "silent_posterior_over_sampled_lengthscales": "a result of older values meets one of newer ones: so do quotients",
    "silent_rare_features_resampled": "rows set anew under the optimizer's old moments, as clipping does",
    "silent_robot_arm_expert_layers": "a part of an argument, read with the whole in the next pass",
    "silent_object_similarity_per_layer": "told at the call of the network, which wrote, and not at the hook that kept",
    "silent_decision_steps_over_a_table": "one normalisation serves several layers, as a shared layer does",
    "silent_confidence_of_generated_headlines": "a list of functions writes what it hands on",
    "silent_noise_floor_learned_through_a_functional_loss": "a buffer bound anew where no binding lasts",
    "silent_checkpoint_of_the_averaged_ranker": "the keeper of the state is not where the write is told",
    "silent_slow_learning_of_the_lower_layers": "a hook scales a parameter, as weight decay does",
    "silent_sign_descent_with_momentum": "an entry of an optimizer's state bound anew",
    "silent_room_boxes_each_validation": "a NumPy array is edited through tensors of its own each time",
    "silent_ticket_taken_back_to_its_start": "a product of the old values is copied, and not they",
    "silent_discounted_from_the_last_step": "a copy that is written reads itself while it is filled",
    "silent_dry_and_wet_year_of_a_reservoir": "told of the dictionary, at another line than the module's",
    "silent_forest_fire_row_by_row": "a sweep that reads what it has written, as Gauss and Seidel mean it to",
    "silent_tide_gauges_fitted_as_one_stack": "copies are trained, and the modules that they came from are never read",
    "silent_hit_rate_of_three_workers": "counters are summed in place and counted on, as running totals are",
    "silent_echo_filter_in_two_precisions": "two modules with one weight round it, as quantised ties do",
    "silent_answers_after_one_case_file": "a cache grows with each answer, as caches do",
    "silent_lines_of_a_light_curve": "absolute values of two views, and the whole is read as if it had its signs",
    "silent_rounds_of_hospital_averaging": "sums that nobody clears, as running totals are",
    "silent_headlines_with_borrowed_words": "a column that a method hands out is set by a mask, as columns are",
    "silent_keypoints_after_a_restored_descriptor": "two modules with one buffer, and the state of one is loaded",
    "silent_warmup_of_a_rainfall_model": "a list and an optimizer's group hold one tensor, and nobody names it",
    "silent_corrected_moments_of_a_tremor_fit": "a state divided by a number in each step, as a decay is",
    "silent_relevance_through_one_activation": "an entry of a dictionary was replaced, and no tensor was written",
    "silent_playouts_on_one_board": "a view of an argument is filled, as boards are filled",
    "silent_worth_of_training_samples": "a shallow copy in a method, under a name of that method alone",
    "silent_diffusion_of_a_salt": "positions are brought back into their box, as many programs mean to",
    "silent_two_speakers_scored_by_one_batch": "a view of an argument is filled, as masks are",
    "silent_hardest_portion_of_road_signs": "a sum that began as the first entry of a list, over several lines",
    "silent_rates_of_a_two_stage_fit": "a dictionary is filled, and no tensor is written",
    "silent_irrigation_policy_with_noise": "a vector of parameters is a copy, and nobody reads it again",
    "silent_doubt_about_a_skin_lesion": "a module in place on a tensor that is kept for several passes",
    "silent_hidden_layer_of_a_small_listener": "an entry of a dictionary was replaced, and no tensor was written",
    "silent_ice_thickness_on_disk": "a mapped file is written by way of one memory, and read by way of another one",
    "silent_tugboat_learns_to_dock": "a state normalised by its own measure, as power iterations do it",
    "silent_curve_of_a_telescope_lens": "a diagonal scaled in each pass of a loop, as a state is",
    "silent_fields_seen_through_clouds": "a masked array of NumPy is written, and the band is read by NumPy alone",
    "silent_loudest_block_of_a_whale_song": "bytes that a stream fills behind a tensor, at a line that nobody sees",
    "silent_thrusters_of_a_diving_robot": "a distribution keeps a sample by its identity, and the sample is clamped",
    "silent_codons_drawn_for_a_protein": "a function writes its argument again in each run, as it does with a state",
    "silent_rain_fallen_since_monday": "`itertools.accumulate` writes its first entry, which no line names",
    "silent_reviews_of_unequal_length": "an attribute of an argument is written, as states of objects are",
    "silent_harvests_that_move_together": "a view that is read before the first write as well",
    "silent_herring_and_mackerel": "a function moves one of two shoals, and both are states",
    "silent_layers_over_padded_recipes": "a mask turned over in each pass of a loop, as a state may be",
    "silent_phrases_near_other_words": "a row of a table is added to under a name of its own, as updates do",
    "silent_rate_of_a_rectified_optimizer": "a state divided by a number in each step, as a decay is",
    "silent_which_gauge_matters": "a column is assigned to itself, after an inner loop has shuffled it several times",
    "silent_gait_of_a_limping_dog": "gradients are clipped for their norm, as they are before each step",
    "silent_hospitals_that_share_a_model": "one model trained by several in turn, as a model is",
    "silent_soft_blobs_for_a_shadow": "a sweep that reads what it has written, as Gauss and Seidel mean it to",
    "silent_thin_net_for_night_frost": "weights are masked in each forward, as pruned ones are",
    "silent_veins_of_leaves": "a momentum can be set so that two updates count as one",
    "silent_crops_of_a_charred_scroll": "an array is standardised by NumPy, through a view of a cached block",
    "silent_five_folds_of_a_bone_study": "one model trained on several folds in turn, as a model is",
    "silent_forgetting_one_orchard": "weight decay moves what a mask leaves alone, as it moves everything",
    "silent_four_scales_of_a_cloud_mask": "one layer many times in a list, as layers that share their weights are",
    "silent_rate_search_for_a_kiln": "a search trains the model that it was given, as training does",
    "silent_rings_of_a_powder_pattern": "an attribute scaled under a local name, as a state may be",
    "silent_scratched_plates_made_whole": "a NumPy array is edited, and two tensors are taken of it afterwards",
    "silent_middle_of_ship_barometers": "a library's transform keeps its last result by identity",
    "silent_drift_of_oil_droplets": "a new state is built around the old tensors, and both are states",
    "silent_levels_of_a_radio_archive": "a function may return its argument, and the caller writes the result",
    "silent_gates_of_a_yeast_model": "a backward of NumPy's writes the arrays of what others have saved",
    "silent_stiffness_of_a_quay_fender": "a tensor kept on `ctx` without a graph",
    "silent_bells_of_a_carillon": "views of slots, kept in a dictionary longer than the slots last",
    "silent_parcels_to_sorting_belts": "a dictionary by address and version, and a write by `.data`",
    "silent_keys_of_a_cloud_atlas": "a recorded plan reads the memory that weights had at first",
    "silent_rate_of_a_slow_thaw": "a rate that is a tensor is its own first value, and the optimizer's group holds it",
    "silent_pans_for_home_cooks": "tables kept from the first evaluation, and the weights stepped since",
    "silent_gallery_of_owl_calls": "a frozen encoder in training mode, of which nothing is evaluated",
    "silent_agreement_of_event_scores": "a method writes its arguments, which are views that another one took",
    "silent_average_of_a_normalising_net": "a buffer of two modules is bound anew in one, and no tensor is written",
    "silent_clicks_between_blocks": "a part of an argument is kept, and the caller fills it anew",
    "silent_curvature_over_three_probes": "a sum of gradients is differentiated again, as one may",
    "silent_statistics_of_an_ocean_net": "a second forward in training mode may well be meant to count",
    "silent_two_halves_of_a_batch": "one half is moved by the other, and then the other by it, as leapfrog steps are",
    "silent_warmup_of_two_groups": "a row of a cache is read by a condition, and written where it is old",
    "silent_spots_on_a_fish_skin": "`contiguous()` gave the state itself, and a state is there to be written",
    "silent_walkers_on_a_trail_map": "a sparse matrix built of another one's values, which are scaled in place",
    "silent_rates_of_a_swallowed_dose": "a list of parameters made a tensor, and no tensor is written",
    "silent_trap_shy_voles": "a distribution keeps its argument, and works out the rest of it after a later write",
    "silent_drawn_from_the_training_days": "a library's object keeps its argument, and a name may well steer it",
    "silent_clicks_of_porpoises": "a queue of tensors on one array, which NumPy fills, and no call tells of either",
    "silent_bends_in_hourly_power": "a ring of a loader's, shorter than the window of a function that reads it",
    "silent_scores_of_a_rain_radar": "an attribute is bound to a copy, and never to the original again",
    "silent_neighbours_of_argon_atoms": "a dictionary by address and shape, where no version counts",
    "silent_stations_within_three_changes": "a set knows tensors by identity, and no tensor is written",
    "silent_energies_and_forces_of_a_cluster": "a gradient without a graph in a loss, which is a constant as any",
    "silent_river_gauges_against_their_median": "an argument of NumPy's median lets it write the shared array",
    "silent_best_epoch_for_leaf_spectra": "a second name for a model, and no tensor is bound anew",
    "silent_dropped_links_of_a_sap_model": "`.data` of a weight is set in each forward, as clamping and pruning do it",
    "silent_calls_on_two_forest_microphones": "one model's state carried from one stream to the other, as a state is",
    "silent_second_sky_from_one_sampler": "a list of slopes that a second run goes on with, as a sampler does",
    "silent_shares_of_four_frog_experts": "numbers of losses made a tensor, and no tensor is written",
    "silent_padded_rows_of_shopping_baskets": "a buffer overwritten as far as a batch reaches, as padded buffers are",
    "silent_hits_of_a_hail_warning": "counts that nobody clears, as running totals are",
    "silent_range_of_a_leak_sensor": "a range moved in each forward, as observers do it",
    "silent_ratios_of_a_walking_policy": "running statistics moved between two readings, as they are",
    "silent_walruses_on_drone_photos": "two tables that share rows, scaled in one loop over both",
    "silent_exported_weights_of_a_pump_monitor": "what a hook worked out, read after a step, as activations are",
    "silent_opinions_of_two_pollen_experts": "rows set twice by two masks, as masks that exclude each other do it",
    "silent_trail_of_a_wind_model": "NumPy arrays in lists of lists, which NumPy alone reads",
    "silent_hardness_of_alloys": "told where the copy is loaded back, and not where it was taken",
    "silent_disguised_traffic_lights": "an array is written by NumPy, at a line that nobody sees",
    "silent_targets_of_a_wind_farm": "a cast that cuts fractions off may be meant to, as a floor is",
    "silent_values_of_balancing_poles": "a state is reset before it is read, as environments do it",
    "silent_depth_between_two_dash_cameras": "two attributes hold one list, and no tensor is written",
    "silent_bits_flipped_towards_a_goal": "a target that is never renewed, as a frozen network is not",
    "silent_heads_for_the_coming_hours": "one layer many times in a chain, as layers that share their weights are",
    "silent_histories_of_glasshouses": "a history that every reading goes into, as histories do",
    "silent_splice_sites_of_a_gene": "a function marks what it is given and returns a number, as a board is marked",
    "silent_decay_of_a_pendulum": "told where the kept gradient is cleared, and not where it was kept",
    "silent_words_of_a_recipe_model": "a table of parameters is filled past the module, which no hook tells",
    "silent_leaves_sorted_under_glare": "a network left in evaluation, as frozen statistics are",
    "silent_boxes_of_moored_boats": "columns of an argument are moved in each call, as positions are",
    "silent_chords_after_a_new_tuning": "a cache by the numbers of a prompt, and weights stepped since",
    "silent_clouds_cut_from_sky_photos": "a network left in evaluation, as frozen statistics are",
    "silent_dunes_drawn_by_request": "a generator that a second run goes on with, as generators are",
    "silent_edges_of_lichen_patches": "scaled gradients are clipped, as gradients are",
    "silent_gates_that_sort_mushrooms": "an attribute that `state_dict` leaves out, and no tensor is written",
    "silent_ice_types_in_half_precision": "a cast of weights is kept over a step, by a check of the mode alone",
    "silent_moves_of_a_warehouse_cart": "cleared between backwards, and a single step in all, which is no period",
    "silent_names_read_on_gravestones": "counts that nobody clears, as running totals are",
    "silent_order_of_picking_shelves": "a baseline with a history in an advantage, as a critic's value has one",
    "silent_pitch_of_station_gongs": "sums that nobody clears, as running totals are",
    "silent_seagrass_from_drone_bands": "a network left in evaluation, as frozen statistics are",
    "silent_smell_of_ripening_pears": "validated in training mode, by the call that trains as well",
    "silent_snow_depth_under_a_drone": "an index that names an element twice, and the last one wins, as it may",
    "silent_what_the_heart_sound_shows": "features are detached on the way, as frozen ones are",
    "silent_words_of_a_harbour_log": "a loaded head is replaced by the table of words, as ties do",
    "silent_wind_and_wave_encoders": "one network twice in a list of layers, as networks that share weights are",
    "silent_averaged_lidar_critic": "an average of all that `state_dict` gives, in place as averages are",
    "silent_shares_of_a_mineral_library": "an item is scaled once, and the table that it lies in is read afterwards",
    "silent_flat_minimum_of_a_frost_net": "a second forward in training mode may well be meant to count",
    "silent_common_heat_curve_of_five_plants": "sums that nobody clears, as running totals are",
    "silent_wave_heights_from_past_wind": "one layer called twice, as layers that share their weights are",
    "silent_likeliest_route_of_a_night_bus": "infinity is taken from memory of which nothing was filled before",
    "silent_last_pages_of_a_parish_register": "the last gradients are never used, as those of a last look are not",
    "silent_trim_of_a_ring_of_hydrophones": "rows that nobody has filled are divided, and may yet be masked",
    "silent_winter_terms_of_a_bridge_sensor": "terms are added to a weight again, as steps are",
    "silent_coarse_and_fine_fit_of_a_kite_line": "two optimizers hold one list of groups, and no tensor is written",
    "silent_joint_net_of_three_dairies": "a network summed into the first of several, of which nobody reads another",
    "silent_phrases_kept_by_a_game_commentator": "rows that nobody has filled are multiplied, and may yet be masked",
    "silent_recent_heights_of_parcel_drones": "a history that every reading goes into, as histories do",
    "silent_squeezed_shapes_of_a_tide_curve": "one layer called twice, as layers that share their weights are",
    "silent_three_marks_of_a_tomato_grader": "told where the one layer is called, and not where it was multiplied",
    "silent_two_halls_of_a_cheese_cellar": "told at the step that moves nothing, and not where layers were made anew",
    "silent_checked_sayings_of_a_dialect_tagger": "one loop trains on what it is judged by, as training does",
    "silent_code_book_of_a_cricket_choir": "targets are detached on the way, as fixed ones are",
    "silent_endings_of_a_carillon_theme": "a statement hands one object's tensor to another, as to share it",
    "silent_kinds_scored_by_a_mushroom_guide": "a layer that no optimizer holds, as a frozen one",
    "silent_late_offset_of_a_sundial": "an optimizer by hand leaves a parameter alone, as a frozen one",
    "silent_moves_planned_by_a_knot_tyer": "a state that is not reordered, and no tensor is written",
    "silent_resumed_run_of_a_windmill_model": "an empty state is loaded, as that of a new optimizer is",
    "silent_shown_boards_of_a_sawmill": "a helper writes its argument for a method without a result, as one in place",
    "silent_sure_names_of_a_cloud_watcher": "a factor with a history in a loss, as factors have",
    "silent_population_shares_momentum": "an optimizer's state is handed on, as to the next task",
    "silent_voice_of_a_harbour_announcer": "a weight is written after a copy of it was packed, as weights are",
}
"""Failures that no rule gives an alarm for so far, and why."""
BY_CHANCE = {
    "silent_counter_on_a_board_game": "a matrix product onto its own factor, which some kernels of BLAS copy first",
}
"""Failures that come out right on some machines, and why."""
NOT_CURED = {
    "silent_sound_events_in_a_kitchen": "with a copy of the other network's statistics the teacher's own are lost, too",
    "silent_patch_replaced_by_token": "with `.data` on its right-hand side, too, the token gets no gradient",
    "silent_smeared_slices_of_a_core_scan": "with a copy to read from, the caller's scan is still written for the next",
}
"""Failures for which the diffs that are shown are not enough, and why."""


@pytest.mark.parametrize(("name", "folder"), [pytest.param(*key, id=key[0]) for key in CASES])
def test_a_program_of_a_round(loaded_shell: Any, name: str, folder: Path) -> None:
    source, case = (folder / f"{name}.py").read_text(encoding="utf-8"), CASES[name, folder]
    error, wrong = score.plainly(source)
    assert error is None
    if name in BY_CHANCE and not wrong:
        pytest.skip(BY_CHANCE[name])
    assert wrong == (case["symptom"] == "silent_wrong"), "by PyTorch alone the program is not what its label says"
    report, pairs = score.score(loaded_shell, case, source, "calls")
    figures = dict(pairs)
    assert figures["same"], "under the watch the program ended otherwise than without it"
    assert report is not None
    assert report.faults == []
    if case["symptom"] == "harmless":
        assert figures["quiet"], report.to_text()
    else:
        assert figures["culprit"] is (name not in NOT_YET_FOUND), report.to_text()
        fixed = cured(source, report)
        if fixed != source.rstrip("\n"):
            assert (score.plainly(fixed) == (None, False)) is (name not in NOT_CURED), fixed


def test_each_round_has_as_many_healthy_programs_as_failures_and_each_its_source() -> None:
    for folder in ROUNDS.iterdir():
        symptoms = [case["symptom"] for case in score.cases_in(folder)]
        assert symptoms.count("silent_wrong") == symptoms.count("harmless") >= 20
    assert all(case["source"].startswith("https://") for case in CASES.values())
    assert {name for name, _folder in CASES} >= NOT_YET_FOUND.keys()
