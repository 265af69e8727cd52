// Package check reads the deployment files with the libraries of the programs that will read them: the chart with
// Helm's, its manifests as Kubernetes' own types, and compose.yaml with Compose's. It is a separate module to keep
// these libraries out of the gateway's; see docs/decisions/0016-checked-manifests.md.
package check
