"""Which vertices of the graph a finding is about, so that the picture can mark them and, when large, show only them."""

from __future__ import annotations

from dataclasses import dataclass, field

from inplace_magic.analysis.graph import AutogradGraph
from inplace_magic.analysis.vertices import Edge
from inplace_magic.hazards import Hazard
from inplace_magic.language import _
from inplace_magic.render.lettering import printable


@dataclass(frozen=True, slots=True)
class Roles:
    """Keys of the vertices, and the arrows, that the findings name."""

    guilty: dict[str, str] = field(default_factory=dict)
    """Calls that wrote, with the words to show: ``overwritten here``."""
    savers: dict[str, str] = field(default_factory=dict)
    """Calls whose autograd node kept what was written, or that read it later for the old values, with the words to
    show: ``saved here``, ``read here``."""
    tensors: dict[str, None] = field(default_factory=dict)
    """Versions that were lost, and the versions that took their place."""
    broken: dict[Edge, None] = field(default_factory=dict)
    """Saved-for-backward arrows from a version that is gone."""
    versions: dict[str, list[str]] = field(default_factory=dict)
    """Of each call named, in the order of the findings, worst first: the versions of ``tensors`` next to it."""

    @property
    def keys(self) -> list[str]:
        """All vertices named, those of the worst finding first."""
        return list(dict.fromkeys(key for call, versions in self.versions.items() for key in (call, *versions)))


def roles_of(graph: AutogradGraph, findings: tuple[Hazard, ...]) -> Roles:
    """Return the roles that the findings give to the graph's vertices; notes give none."""
    roles = Roles()
    for finding in findings:
        if not finding.is_alarm or finding.call is None:
            continue
        overwritten = finding.saved is not None or finding.severity == "silent"
        wrote = printable(finding.badges.wrote) or (_("overwritten here") if overwritten else _("written here"))
        roles.guilty.setdefault(f"C{finding.call}", wrote)
        if finding.saved_call is not None:
            roles.savers.setdefault(f"C{finding.saved_call}", _("saved here"))
        if finding.read_call is not None:
            roles.savers.setdefault(f"C{finding.read_call}", printable(finding.badges.read) or _("read here"))
        for call in (finding.call, finding.saved_call, finding.read_call):
            if call is not None:
                roles.versions.setdefault(f"C{call}", [])
    if not roles.versions:
        return roles
    touched = {edge.source for edge in graph.edges if edge.target in roles.guilty}
    for edge in graph.edges:
        if edge.source in roles.guilty:
            roles.tensors[edge.target] = None
            roles.versions[edge.source].append(edge.target)
        elif edge.kind == "saved" and edge.target in roles.savers and edge.source in touched:
            roles.broken[edge] = None
            roles.tensors[edge.source] = None
            roles.versions[edge.target].append(edge.source)
    return roles
