"""Model families of `transformers`, each with random weights so tiny that a training step takes milliseconds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from batches import (
    VOCABULARY,
    Batch,
    boxed_images,
    classified_images,
    classified_words,
    described_images,
    masked_words,
    next_words,
    routed_words,
    segmented_images,
    transcribed_spectra,
    transcribed_waves,
    translated_words,
)

ADAMW = "torch.optim.AdamW(model.parameters(), lr=1e-3)"
FUSED = "torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)"
FOREACH = "torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)"
SGD = "torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9, weight_decay=1e-4)"
FUSED_SGD = "torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9, fused=True)"


@dataclass(frozen=True)
class Family:
    """A model class of `transformers` with a tiny configuration, and what it is trained with."""

    name: str
    model: str
    config: str
    settings: dict[str, Any]
    batch: Callable[[], Batch]
    optimizer: str = ADAMW
    generates: bool = False
    """Also calls ``model.generate``, which fills a key-value cache (or a recurrent state) step by step."""
    prepare: str = ""
    """A statement about the model, run before training."""

    def build(self) -> tuple[Any, Batch]:
        """The model in training mode and one batch with its labels."""
        import transformers

        config = getattr(transformers, self.config)(**self.settings)
        model = getattr(transformers, self.model)(config)
        return model.train(), self.batch()


TEXT = {"vocab_size": VOCABULARY, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
ENCODER = {**TEXT, **SIZES, "max_position_embeddings": 64}
ROPE = {**ENCODER, "num_key_value_heads": 1}
LAYERS = {
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
}
PAIR = {**TEXT, **LAYERS, "max_position_embeddings": 64, "decoder_start_token_id": 1}
GPT = {**TEXT, "n_layer": 2, "n_head": 2, "n_embd": 16, "n_positions": 64}
IMAGE = {"image_size": 32, "num_labels": 4}
RESNET = {"embedding_size": 8, "hidden_sizes": [8, 16, 16, 24], "depths": [1, 1, 1, 1], "layer_type": "basic"}
BACKBONE = {"model_type": "resnet", **RESNET, "out_features": ["stage4"]}
SPEECH = {
    **SIZES,
    "vocab_size": 32,
    "conv_dim": (8, 8),
    "conv_kernel": (5, 3),
    "conv_stride": (4, 2),
    "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 4,
    "num_conv_pos_embedding_groups": 2,
    "mask_time_length": 2,
}
SWIN = {**IMAGE, "patch_size": 4, "embed_dim": 8, "depths": [2, 2], "num_heads": [2, 2], "window_size": 2}
SEGFORMER = {
    "num_encoder_blocks": 2,
    "depths": [1, 1],
    "sr_ratios": [2, 1],
    "hidden_sizes": [8, 16],
    "patch_sizes": [7, 3],
    "strides": [4, 2],
    "num_attention_heads": [1, 2],
    "mlp_ratios": [2, 2],
    "decoder_hidden_size": 16,
    "num_labels": 4,
}
WHISPER = {
    **PAIR,
    "num_mel_bins": 8,
    "max_source_positions": 20,
    "max_target_positions": 64,
    "suppress_tokens": None,
    "begin_suppress_tokens": None,
}
CLIP = {
    "text_config": {**SIZES, **TEXT, "max_position_embeddings": 32},
    "vision_config": {**SIZES, "image_size": 32, "patch_size": 8},
    "projection_dim": 8,
}
QWEN_MOE = {**ROPE, "num_experts": 4, "moe_intermediate_size": 16, "shared_expert_intermediate_size": 16}
STATE_SPACE = {**TEXT, "hidden_size": 16, "num_hidden_layers": 2, "state_size": 4}
MAMBA2 = {**STATE_SPACE, "num_heads": 4, "head_dim": 8, "n_groups": 1, "chunk_size": 4}

CHECKPOINTED = "model.gradient_checkpointing_enable()"

FAMILIES: tuple[Family, ...] = (
    Family("GPT-2", "GPT2LMHeadModel", "GPT2Config", GPT, next_words, FUSED, generates=True),
    Family("Llama", "LlamaForCausalLM", "LlamaConfig", ROPE, next_words, generates=True),
    Family("Llama, checkpointed", "LlamaForCausalLM", "LlamaConfig", ROPE, next_words, FOREACH, prepare=CHECKPOINTED),
    Family("Gemma 2", "Gemma2ForCausalLM", "Gemma2Config", {**ROPE, "head_dim": 8}, next_words, SGD, generates=True),
    Family("GPT-NeoX", "GPTNeoXForCausalLM", "GPTNeoXConfig", ENCODER, next_words, SGD, generates=True),
    Family("BLOOM", "BloomForCausalLM", "BloomConfig", {**GPT, "hidden_size": 16}, next_words, generates=True),
    Family("Falcon", "FalconForCausalLM", "FalconConfig", ENCODER, next_words, FOREACH, generates=True),
    Family(
        "Mixtral", "MixtralForCausalLM", "MixtralConfig", {**ROPE, "num_local_experts": 4}, routed_words, generates=True
    ),
    Family("Qwen2-MoE", "Qwen2MoeForCausalLM", "Qwen2MoeConfig", QWEN_MOE, routed_words, FUSED, generates=True),
    Family("Mamba", "MambaForCausalLM", "MambaConfig", STATE_SPACE, next_words, generates=True),
    Family("Mamba-2", "Mamba2ForCausalLM", "Mamba2Config", MAMBA2, next_words, FUSED_SGD, generates=True),
    Family("RWKV", "RwkvForCausalLM", "RwkvConfig", {**TEXT, "hidden_size": 16, "num_hidden_layers": 2}, next_words),
    Family("BERT", "BertForMaskedLM", "BertConfig", ENCODER, masked_words),
    Family("RoBERTa", "RobertaForSequenceClassification", "RobertaConfig", ENCODER, classified_words, FUSED),
    Family(
        "DeBERTa-v2", "DebertaV2ForMaskedLM", "DebertaV2Config", {**ENCODER, "relative_attention": True}, masked_words
    ),
    Family("Longformer", "LongformerForMaskedLM", "LongformerConfig", {**ENCODER, "attention_window": 4}, masked_words),
    Family(
        "XLNet",
        "XLNetLMHeadModel",
        "XLNetConfig",
        {**TEXT, "d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 32},
        translated_words,
        SGD,
    ),
    Family(
        "T5",
        "T5ForConditionalGeneration",
        "T5Config",
        {**TEXT, "d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2, "decoder_start_token_id": 0},
        translated_words,
        generates=True,
    ),
    Family("BART", "BartForConditionalGeneration", "BartConfig", PAIR, translated_words, FOREACH, generates=True),
    Family("ViT", "ViTForImageClassification", "ViTConfig", {**SIZES, **IMAGE, "patch_size": 8}, classified_images),
    Family("Swin", "SwinForImageClassification", "SwinConfig", SWIN, classified_images, SGD),
    Family(
        "ConvNeXt",
        "ConvNextForImageClassification",
        "ConvNextConfig",
        {**IMAGE, "hidden_sizes": [8, 16], "depths": [1, 1], "num_stages": 2},
        classified_images,
        FUSED_SGD,
    ),
    Family(
        "ResNet", "ResNetForImageClassification", "ResNetConfig", {**RESNET, "num_labels": 4}, classified_images, SGD
    ),
    Family("SegFormer", "SegformerForSemanticSegmentation", "SegformerConfig", SEGFORMER, segmented_images),
    Family(
        "DETR",
        "DetrForObjectDetection",
        "DetrConfig",
        {**LAYERS, "backbone_config": BACKBONE, "num_queries": 6, "num_labels": 4, "auxiliary_loss": True},
        boxed_images,
    ),
    Family("CLIP", "CLIPModel", "CLIPConfig", CLIP, described_images),
    Family("Whisper", "WhisperForConditionalGeneration", "WhisperConfig", WHISPER, transcribed_spectra, generates=True),
    Family("Wav2Vec2", "Wav2Vec2ForCTC", "Wav2Vec2Config", SPEECH, transcribed_waves),
    Family("HuBERT", "HubertForCTC", "HubertConfig", SPEECH, transcribed_waves, SGD),
)
