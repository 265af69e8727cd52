package deploy_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"crossgate/config"
	"crossgate/internal/must"
)

// A manifest is the part of a manifest in helm/rendered that the gateway depends on. deploy/check tests whether
// Kubernetes accepts all of it.
type manifest struct {
	Kind string
	Data map[string]string
	Spec struct {
		Replicas int
		Strategy struct{ Type string }
		Template struct{ Spec pod }
		Ports    []port
	}
}

type pod struct {
	TerminationGracePeriodSeconds int `yaml:"terminationGracePeriodSeconds"`
	SecurityContext               struct {
		RunAsNonRoot bool `yaml:"runAsNonRoot"`
		RunAsUser    int  `yaml:"runAsUser"`
	} `yaml:"securityContext"`
	Containers []container
	Volumes    []struct {
		Name      string
		Projected struct {
			Sources []struct {
				Secret struct {
					Name  string
					Items []struct{ Key, Path string }
				}
			}
		}
	}
}

type container struct {
	Args           []string
	Env            []struct{ Name, Value string }
	Ports          []port
	ReadinessProbe struct {
		HTTPGet  struct{ Path, Port string } `yaml:"httpGet"`
		Period   int                         `yaml:"periodSeconds"`
		Failures int                         `yaml:"failureThreshold"`
	} `yaml:"readinessProbe"`
	SecurityContext struct {
		ReadOnlyRootFilesystem bool `yaml:"readOnlyRootFilesystem"`
	} `yaml:"securityContext"`
	VolumeMounts []struct {
		Name, SubPath string
		MountPath     string `yaml:"mountPath"`
	} `yaml:"volumeMounts"`
}

type port struct {
	Name          string
	ContainerPort int    `yaml:"containerPort"`
	TargetPort    string `yaml:"targetPort"`
}

// readManifests returns the gateway's Deployment and its configuration, and the names of the Services' ports.
func readManifests(t *testing.T, path string) (deployment manifest, configuration string, targets []string) {
	t.Helper()
	file := must.Get(os.Open(path))(t)
	defer file.Close()
	for decoder := yaml.NewDecoder(file); ; {
		var m manifest
		if err := decoder.Decode(&m); err != nil {
			break
		}
		switch m.Kind {
		case "Deployment":
			deployment = m
		case "ConfigMap":
			configuration = m.Data["crossgate.yaml"]
		case "Service":
			targets = append(targets, m.Spec.Ports[0].TargetPort)
		}
	}
	if len(deployment.Spec.Template.Spec.Containers) != 1 {
		t.Fatalf("%s has no Deployment of one container", path)
	}
	return deployment, configuration, targets
}

// mountSecrets writes the secrets that a pod mounts to files, and points its variables to them.
func mountSecrets(t *testing.T, p pod) {
	t.Helper()
	mounts := make(map[string]string)
	for _, mount := range p.Containers[0].VolumeMounts {
		if mount.SubPath != "" {
			t.Errorf("%s is mounted by a subPath, which does not follow what it is made of", mount.Name)
		}
		mounts[mount.Name] = mount.MountPath
	}
	root := t.TempDir()
	for _, volume := range p.Volumes {
		for _, source := range volume.Projected.Sources {
			for _, item := range source.Secret.Items {
				path := filepath.Join(root, mounts[volume.Name], item.Path)
				must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
				value := map[string]string{
					"POSTGRES_URL": "postgres://crossgate:secret@database/crossgate", "VALKEY_URL": "redis://crossgate:secret@cache:6379/0",
				}[item.Path]
				must.Do(t, os.WriteFile(path, []byte(cmp.Or(value, "secret")), 0o600))
			}
		}
	}
	for _, variable := range p.Containers[0].Env {
		value := variable.Value
		if strings.HasSuffix(variable.Name, "_FILE") {
			value = filepath.Join(root, value)
		}
		t.Setenv(variable.Name, value)
	}
}

// TestManifestsFitTheGateway reads a pod's configuration as its gateway does, with secrets from mounted files, and
// compares the pod with it.
func TestManifestsFitTheGateway(t *testing.T) {
	for shape, strategy := range map[string]string{"one": "Recreate", "three": "RollingUpdate"} {
		t.Run(shape, func(t *testing.T) {
			deployment, configuration, targets := readManifests(t, "helm/rendered/"+shape+".yaml")
			p := deployment.Spec.Template.Spec
			mountSecrets(t, p)
			path := filepath.Join(t.TempDir(), "crossgate.yaml")
			must.Do(t, os.WriteFile(path, []byte(configuration), 0o600))
			c := must.Get(config.Load(path))(t)
			if got := deployment.Spec.Strategy.Type; got != strategy {
				t.Errorf("strategy = %s, want %s", got, strategy)
			}
			inPostgres, shares := c.Index.Postgres.Reveal() != "", c.Cache.Shared.Reveal() != ""
			if isThree := shape == "three"; inPostgres != isThree || shares != isThree {
				t.Errorf("orders are in PostgreSQL: %v, the cache is shared: %v, want %v", inPostgres, shares, isThree)
			}
			checkPod(t, p, c)
			if !slices.Equal(targets, []string{"http", "admin"}) {
				t.Errorf("Services lead to %q, want http and admin", targets)
			}
		})
	}
}

// checkPod compares a pod with the configuration of the gateway in it.
func checkPod(t *testing.T, p pod, c config.Config) {
	t.Helper()
	in := p.Containers[0]
	if want := []string{"serve", "--config", "/etc/crossgate/crossgate.yaml"}; !slices.Equal(in.Args, want) {
		t.Errorf("args = %q, want %q", in.Args, want)
	}
	if want := []port{{Name: "http", ContainerPort: 8080}, {Name: "admin", ContainerPort: 9464}}; !slices.Equal(in.Ports, want) || c.Listen != ":8080" || c.Telemetry.Admin != ":9464" {
		t.Errorf("the pod has ports %+v, the gateway listens on %s and %s", in.Ports, c.Listen, c.Telemetry.Admin)
	}
	probe := in.ReadinessProbe
	noticed := time.Duration(probe.Period*probe.Failures) * time.Second
	if probe.HTTPGet.Path != "/readyz" || probe.HTTPGet.Port != "http" || c.Drain <= noticed {
		t.Errorf("%s is noticed after %v, and requests are taken for %v after it says no", probe.HTTPGet.Path, noticed, c.Drain)
	}
	if want := c.Drain + 30*time.Second; time.Duration(p.TerminationGracePeriodSeconds)*time.Second < want {
		t.Errorf("the pod is killed after %d s, want %v", p.TerminationGracePeriodSeconds, want)
	}
	if probe.Failures < 2 {
		t.Error("one late answer takes a pod out of its Service")
	}
	if !p.SecurityContext.RunAsNonRoot || p.SecurityContext.RunAsUser != 65532 || !in.SecurityContext.ReadOnlyRootFilesystem {
		t.Errorf("the pod runs as %+v with %+v", p.SecurityContext, in.SecurityContext)
	}
}
