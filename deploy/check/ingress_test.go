package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"
)

// TestIngressFitsTheChart has Kubernetes' type know every field of the shipped Ingresses, and the chart's Service take what
// they send. What ingress-nginx makes of their annotations cannot be tried here: their names are held against its list.
func TestIngressFitsTheChart(t *testing.T) {
	known := []string{"proxy-connect-timeout", "proxy-read-timeout", "proxy-next-upstream", "proxy-next-upstream-tries", "proxy-body-size"}
	release := mustGet(render(loadChart(t), readValues(t, "one")))(t)
	var service core.Service
	decodeMadeBy(t, release, "service.yaml", &service)
	shipped := mustGet(os.ReadFile(filepath.Join("..", "balancers", "ingress.yaml")))(t)
	retried := map[string]bool{} // by path: whether what is late is asked for again
	for _, document := range documents(t, string(shipped)) {
		var ingress networking.Ingress
		mustDo(t, yaml.UnmarshalStrict(document, &ingress))
		for name := range ingress.Annotations {
			if short, is := strings.CutPrefix(name, "nginx.ingress.kubernetes.io/"); !is || !slices.Contains(known, short) {
				t.Errorf("ingress-nginx has no annotation %s", name)
			}
		}
		for _, rule := range ingress.Spec.Rules {
			for _, path := range rule.HTTP.Paths {
				retried[path.Path] = strings.Contains(ingress.Annotations["nginx.ingress.kubernetes.io/proxy-next-upstream"], "timeout")
				to := path.Backend.Service
				if to.Name != service.Name || !slices.ContainsFunc(service.Spec.Ports, func(p core.ServicePort) bool { return p.Name == to.Port.Name }) {
					t.Errorf("%s goes to %s, port %s, which the chart does not make", path.Path, to.Name, to.Port.Name)
				}
			}
		}
	}
	if len(retried) != 3 || !retried["/api/"] || !retried["/v1.0/dln/"] || retried["/"] {
		t.Errorf("asked for again when they are late: %v", retried)
	}
}
