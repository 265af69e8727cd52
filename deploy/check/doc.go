// Package check reads what is deployed with the libraries of the programs that will read it: the chart with Helm's,
// its manifests as Kubernetes' own types, and compose.yaml with Compose's. It is a module of its own, so that these
// libraries are none of the gateway's; see docs/decisions/0016-checked-manifests.md.
package check
