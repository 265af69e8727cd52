package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"crossgate/internal/must"
)

// every is a file with all sections that have required keys or bounds.
const every = `
chains: [{id: 1, coin: {decimals: 18}, endpoints: [{url: "https://example.com", requestsPerSecond: 1}]}]
connections: {total: 1}
index: {behind: 1s}
cache: {maxBytes: 1GiB}
events:
  webhooks:
    - {name: shop, url: "https://example.com", secrets: ["whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="]}
limits: {address: {units: 10, window: 1s}, keys: [{name: one, key: 0123456789abcdef, quota: {units: 10, window: 1s}}]}
swap: {fee: {bps: 0}}
venues: [{name: kyberswap, endpoints: [{url: "https://example.com"}]}]
prices: {defillama: [{url: "https://example.com"}]}
tokens:
  own: [{chain: 1, address: "0x6B175474E89094C44Da98b954EedeAC495271d0F", symbol: DAI, name: Dai, decimals: 18}]
  lists: [{name: own, endpoints: [{url: "https://example.com"}]}]
telemetry: {share: 1}
passthrough:
  hosts: [{name: origin, endpoints: [{url: "https://example.com"}], paths: {/: cache}}]
  shadow: {share: 1, paths: {/: origin}}
`

// places holds the place in every of each type's section.
var places = map[string][]string{
	"Config": {}, "Connections": {"connections"}, "Index": {"index"}, "Events": {"events"}, "Webhook": {"events", "webhooks", "0"}, "Cache": {"cache"},
	"Limits": {"limits"}, "Quota": {"limits", "address"}, "Key": {"limits", "keys", "0"}, "Swap": {"swap"}, "Fee": {"swap", "fee"},
	"Chain": {"chains", "0"}, "Endpoint": {"chains", "0", "endpoints", "0"},
	"Coin": {"chains", "0", "coin"}, "Venue": {"venues", "0"},
	"Tokens": {"tokens"}, "Token": {"tokens", "own", "0"}, "TokenList": {"tokens", "lists", "0"}, "Telemetry": {"telemetry"},
	"Passthrough": {"passthrough"}, "Host": {"passthrough", "hosts", "0"}, "Shadow": {"passthrough", "shadow"},
}

// judge reads files as the gateway does, and validates them against the schema.
type judge struct{ schema *jsonschema.Schema }

func newJudge(t *testing.T) judge {
	t.Helper()
	return judge{must.Get(jsonschema.NewCompiler().Compile("schema.json"))(t)}
}

// violations returns the schema's violations in a file.
func (j judge) violations(t *testing.T, file any) (all []*jsonschema.ValidationError) {
	t.Helper()
	document := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(must.Get(json.Marshal(file))(t))))(t)
	var found *jsonschema.ValidationError
	if err := j.schema.Validate(document); err != nil && !errors.As(err, &found) {
		t.Fatal(err)
	} else if err == nil {
		return nil
	}
	for ahead := []*jsonschema.ValidationError{found}; len(ahead) > 0; {
		next := ahead[0]
		ahead = append(ahead[1:], next.Causes...)
		if len(next.Causes) == 0 {
			all = append(all, next)
		}
	}
	return all
}

// takes reports whether the gateway and the schema accept the value at a place in a file. Mistakes of the gateway count
// only at that place, since values depend on each other.
func (j judge) takes(t *testing.T, file any, place []string) (byGateway, bySchema bool) {
	t.Helper()
	text := must.Get(yaml.Marshal(file))(t)
	var path strings.Builder
	for _, part := range place {
		if _, err := strconv.Atoi(part); err == nil {
			path.WriteString("[" + part + "]")
		} else {
			path.WriteString("." + part)
		}
	}
	_, err := Parse(text)
	mistakes, _ := errors.AsType[Mistakes](err)
	byGateway = !slices.ContainsFunc(mistakes, func(m Mistake) bool { return m.Path == strings.TrimPrefix(path.String(), ".") })
	bySchema = !slices.ContainsFunc(j.violations(t, file), func(v *jsonschema.ValidationError) bool {
		return slices.Equal(v.InstanceLocation, place) || slices.Equal(v.InstanceLocation, place[:len(place)-1])
	})
	return byGateway, bySchema
}

// sections returns the structs of a configuration by name.
func sections(of reflect.Type, found map[string]reflect.Type) map[string]reflect.Type {
	of = structOf(of)
	if _, isText := texts[of]; isText || of.Kind() != reflect.Struct || found[of.Name()] != nil {
		return found
	}
	found[of.Name()] = of
	for field := range of.Fields() {
		if field.Tag.Get("yaml") != "" {
			sections(field.Type, found)
		}
	}
	return found
}

// TestEveryKeyIsShownAndKeysAreFew keeps deploy/crossgate.yaml valid and complete, and limits the number of keys: a
// setting that is never changed should be a constant.
func TestEveryKeyIsShownAndKeysAreFew(t *testing.T) {
	const most = 116
	path := filepath.Join("..", "deploy", "crossgate.yaml")
	_, err := Load(path)
	text, readErr := os.ReadFile(path)
	must.Do(t, errors.Join(err, readErr))
	count := 0
	for _, of := range sections(reflect.TypeFor[Config](), map[string]reflect.Type{}) {
		for field := range of.Fields() {
			key := field.Tag.Get("yaml")
			if key == "" {
				continue
			}
			if count++; !strings.Contains(string(text), key+":") {
				t.Errorf("%s does not show the key %q", path, key)
			}
		}
	}
	if count != most {
		t.Errorf("the configuration has %d keys, want %d: lower the number with them, and find a constant before you raise it", count, most)
	}
}

func readEvery(t *testing.T) (file map[string]any) {
	t.Helper()
	must.Do(t, yaml.Unmarshal([]byte(every), &file))
	return file
}

// section returns the mapping at a place in a file.
func section(t *testing.T, file any, place []string) map[string]any {
	t.Helper()
	for _, part := range place {
		switch in := file.(type) {
		case map[string]any:
			file = in[part]
		case []any:
			index := must.Get(strconv.Atoi(part))(t)
			file = in[index]
		}
	}
	found, isThere := file.(map[string]any)
	if !isThere {
		t.Fatalf("the file has nothing at %q", place)
	}
	return found
}

// probe is a value at a bound or next to it.
type probe struct {
	value any
	isIn  bool
}

func probesOf(limits bounds, of reflect.Type) (all []probe) {
	step := 1.0
	if of.Kind() == reflect.Float64 {
		step = 0.001
	}
	add := func(bound string, inwards float64) {
		if bound == "" {
			return
		}
		at := limits.number(bound, of)
		for value, isIn := range map[float64]bool{at - inwards: false, at: true, at + inwards: true} {
			var written any = value
			switch {
			case of == reflect.TypeFor[time.Duration]():
				written = time.Duration(value).String()
			case of.Kind() != reflect.Float64:
				written = int64(value)
			}
			all = append(all, probe{written, isIn})
		}
	}
	add(limits.least, step)
	add(limits.most, -step)
	return all
}

// TestSchemaAgreesWithTheCheck sets every bounded value to each bound and next to it. JSON schema cannot compare
// durations: it must describe their bounds in words.
func TestSchemaAgreesWithTheCheck(t *testing.T) {
	j, bounded := newJudge(t), 0
	for name, of := range sections(reflect.TypeFor[Config](), map[string]reflect.Type{}) {
		for field := range of.Fields() {
			limits, given := boundsOf(field)
			if !given {
				continue
			}
			bounded++
			key, kind := field.Tag.Get("yaml"), field.Type
			at := append(slices.Clone(places[name]), key)
			if kind.Kind() == reflect.Map {
				at, kind = append(at, "eth_call"), kind.Elem()
			}
			for _, p := range probesOf(limits, kind) {
				file := readEvery(t)
				if field.Type.Kind() == reflect.Map {
					section(t, file, places[name])[key] = map[string]any{"eth_call": p.value}
				} else {
					section(t, file, places[name])[key] = p.value
				}
				byGateway, bySchema := j.takes(t, file, at)
				isCompared := kind != reflect.TypeFor[time.Duration]()
				if byGateway != p.isIn || isCompared && bySchema != p.isIn || !bySchema && p.isIn {
					t.Errorf("%s: %v, which is %s: %v; the gateway takes it: %v, the schema: %v",
						strings.Join(at, "."), p.value, limits, p.isIn, byGateway, bySchema)
				}
			}
			said := fmt.Sprintf("(%s)", limits)
			if drawn := string(Schema()); !strings.Contains(drawn, said) {
				t.Errorf("the schema does not say that %s.%s is %s", name, key, limits)
			}
		}
	}
	if bounded < 20 {
		t.Errorf("%d keys have bounds: the test looks in the wrong place", bounded)
	}
}

// TestRequiredKeysAreMissed removes each key that the schema requires from a file that is valid with it.
func TestRequiredKeysAreMissed(t *testing.T) {
	j := newJudge(t)
	text := must.Get(yaml.Marshal(readEvery(t)))(t)
	if _, err := Parse(text); err != nil {
		t.Fatalf("with every key: %v", err)
	}
	for name, keys := range required {
		for _, key := range keys {
			file := readEvery(t)
			delete(section(t, file, places[name]), key)
			text := must.Get(yaml.Marshal(file))(t)
			if _, err := Parse(text); err == nil {
				t.Errorf("the gateway takes a file without %s.%s", name, key)
			}
			if len(j.violations(t, file)) == 0 {
				t.Errorf("the schema takes a file without %s.%s", name, key)
			}
		}
	}
}

// TestSchemaTakesWhatIsShipped validates every configuration that comes with the gateway.
func TestSchemaTakesWhatIsShipped(t *testing.T) {
	j := newJudge(t)
	files := map[string][]byte{"every section": []byte(every)}
	for _, path := range []string{"default.yaml", "../deploy/crossgate.yaml", "../deploy/compose.crossgate.yaml"} {
		files[path] = must.Get(os.ReadFile(path))(t)
	}
	rendered, err := filepath.Glob("../deploy/helm/rendered/*.yaml")
	if err != nil || len(rendered) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	for _, path := range rendered {
		files[path] = configurationIn(t, path)
	}
	for path, text := range files {
		var file any
		must.Do(t, yaml.Unmarshal(text, &file))
		for _, each := range j.violations(t, file) {
			t.Errorf("%s: %v", path, each)
		}
	}
	var wrong any
	must.Do(t, yaml.Unmarshal([]byte("chains: [{id: 1, endpoint: []}]"), &wrong))
	if len(j.violations(t, wrong)) == 0 {
		t.Error("the schema takes a file with a mistyped key")
	}
}

// TestShownPartsAreValid validates every part of a configuration in the documents, adding a chain if it has none.
func TestShownPartsAreValid(t *testing.T) {
	j, shown := newJudge(t), 0
	documents := must.Get(filepath.Glob("../docs/*.md"))(t)
	for _, path := range append(documents, "../README.md") {
		text := must.Get(os.ReadFile(path))(t)
		for _, after := range strings.Split(string(text), "\n```yaml\n")[1:] {
			part, _, _ := strings.Cut(after, "\n```")
			if !strings.Contains("\n"+part, "\nchains:") {
				part = "chains: [{id: 1, endpoints: [{url: \"https://example.com\"}]}]\n" + part
			}
			var file any
			if err := yaml.Unmarshal([]byte(part), &file); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			for _, each := range j.violations(t, file) {
				t.Errorf("%s: %v\n%s", path, each, part)
			}
			if _, err := Parse([]byte(part)); err != nil {
				t.Errorf("%s: %v\n%s", path, err, part)
			}
			shown++
		}
	}
	if shown == 0 {
		t.Error("the documents show no configuration: the test looks in the wrong place")
	}
}

// configurationIn returns the gateway's configuration from the ConfigMap in manifests.
func configurationIn(t *testing.T, path string) []byte {
	t.Helper()
	text := must.Get(os.ReadFile(path))(t)
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var manifest struct{ Data map[string]string }
		if err := decoder.Decode(&manifest); err != nil {
			t.Fatalf("%s has no configuration: %v", path, err)
		}
		if found := manifest.Data["crossgate.yaml"]; found != "" {
			return []byte(found)
		}
	}
}
