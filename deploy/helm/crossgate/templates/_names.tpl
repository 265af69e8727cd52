{{- define "crossgate.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end }}

{{- define "crossgate.selector" -}}
app.kubernetes.io/name: crossgate
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "crossgate.labels" -}}
{{ include "crossgate.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* The annotations of an object: those that the values set for all, and its own. */ -}}
{{- define "crossgate.annotations" -}}
{{- with merge (dict) (default dict (get . "own")) .root.Values.annotations -}}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Whether more than one gateway may run: then the rules for several apply. */ -}}
{{- define "crossgate.several" -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.replicas) 1) }}true{{ end -}}
{{- end }}

{{- /* The maximum number of gateways, without the extra one while pods are replaced. */ -}}
{{- define "crossgate.most" -}}
{{- if .Values.autoscaling.enabled }}
{{- if lt (int .Values.autoscaling.maxReplicas) (int .Values.replicas) }}
{{- fail (printf "autoscaling.maxReplicas is %d, less than the %d that replicas begins with" (int .Values.autoscaling.maxReplicas) (int .Values.replicas)) }}
{{- end }}
{{- .Values.autoscaling.maxReplicas }}
{{- else }}
{{- .Values.replicas }}
{{- end }}
{{- end }}

{{- /* index.connections: each gateway's share of PostgreSQL's connections, at most the gateway's default of 8. It opens 5
more, for writing, notifications and pings. */ -}}
{{- define "crossgate.readers" -}}
{{- $all := int .Values.postgres.connections }}
{{- $pods := add 1 (int (include "crossgate.most" .)) | int }}
{{- $given := int (get (default dict (get .Values.config "index")) "connections") }}
{{- $readers := default (min 8 (sub (div $all $pods) 5)) $given | int }}
{{- if or (lt $readers 1) (gt (mul $pods (add $readers 5)) $all) }}
{{- fail (printf "%d gateways, one of them while pods are replaced, open up to %d connections of PostgreSQL each, and postgres.connections has %d for all: lower replicas, autoscaling.maxReplicas or config.index.connections, or raise max_connections of PostgreSQL and then postgres.connections" $pods (add 5 (max 1 $readers)) $all) }}
{{- end }}
{{- $readers }}
{{- end }}

{{- /* The gateway's configuration: the values' config, and what only the chart knows. */ -}}
{{- define "crossgate.config" -}}
{{- $index := dict "path" "/data/crossgate.db" }}
{{- if .Values.postgres.secret }}
{{- $index = dict "postgres" "${POSTGRES_URL}" "connections" (include "crossgate.readers" . | int) }}
{{- end }}
{{- $own := dict "listen" ":8080" "drain" (printf "%ds" (int .Values.drainSeconds)) "index" $index "telemetry" (dict "admin" ":9464" "log" "json") }}
{{- if .Values.valkey.secret }}
{{- $_ := set $own "cache" (dict "shared" "${VALKEY_URL}") }}
{{- end }}
{{- toYaml (mergeOverwrite (deepCopy .Values.config) $own) }}
{{- end }}

{{- /* A hash of the keys that a running gateway does not reload: pods are replaced only when it changes. */ -}}
{{- define "crossgate.restart" -}}
{{- $config := include "crossgate.config" . | fromYaml }}
{{- $telemetry := omit $config.telemetry "level" "clients" }}
{{- $redis := get (default dict (get $config "events")) "redis" }}
{{- $stored := get (default dict (get $config "passthrough")) "maxBytes" }}
{{- $keys := pick $config "listen" "tls" "connections" "drain" "mcp" "index" "cache" }}
{{- toYaml (dict "config" $keys "telemetry" $telemetry "redis" $redis "stored" $stored) | sha256sum }}
{{- end }}

{{- /* Where probes ask: the public listener, or the operators' if the public one requires client certificates. */ -}}
{{- define "crossgate.probed" -}}
{{- $public := default dict (get .Values.config "tls") }}
{{- $admin := default dict (get (default dict (get .Values.config "telemetry")) "tls") }}
{{- if not (hasKey $public "clientCAFile") -}}
port: http, scheme: {{ ternary "HTTPS" "HTTP" (hasKey $public "certFile") }}
{{- else if not (hasKey $admin "clientCAFile") -}}
port: admin, scheme: {{ ternary "HTTPS" "HTTP" (hasKey $admin "certFile") }}
{{- else }}
{{- fail "probes have no certificate: leave clientCAFile out of config.tls or out of config.telemetry.tls" }}
{{- end }}
{{- end }}

{{- /* Secrets by their names in the configuration. */ -}}
{{- define "crossgate.secrets" -}}
{{- $secrets := deepCopy .Values.secrets }}
{{- if .Values.postgres.secret }}
{{- $_ := set $secrets "POSTGRES_URL" (pick .Values.postgres "secret" "key") }}
{{- end }}
{{- if .Values.valkey.secret }}
{{- $_ := set $secrets "VALKEY_URL" .Values.valkey }}
{{- end }}
{{- toYaml $secrets }}
{{- end }}

{{- /* The service account of the pods; empty: the namespace's default. */ -}}
{{- define "crossgate.account" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "crossgate.name" .) .Values.serviceAccount.name }}
{{- else }}
{{- .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- /* A probe: its path, listener and timing. */ -}}
{{- define "crossgate.probe" -}}
httpGet: {path: {{ .path }}, {{ include "crossgate.probed" .root }}}
{{ toYaml .how }}
{{- end }}

{{- /* A container's environment: the paths of its secrets, and the variables from the values. */ -}}
{{- define "crossgate.environment" -}}
{{- $secrets := include "crossgate.secrets" . | fromYaml -}}
{{- if or $secrets .Values.env .Values.extraEnv -}}
env:
  {{- range $variable, $_ := $secrets }}
  - {name: {{ $variable }}_FILE, value: /run/secrets/crossgate/{{ $variable }}}
  {{- end }}
  {{- range $variable, $value := .Values.env }}
  - {name: {{ $variable }}, value: {{ $value | quote }}}
  {{- end }}
  {{- with .Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- with .Values.envFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* The volume with the secrets, an item of volumes; empty without secrets. */ -}}
{{- define "crossgate.secretsVolume" -}}
{{- with include "crossgate.secrets" . | fromYaml -}}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      {{- range $variable, $from := . }}
      - secret:
          name: {{ $from.secret }}
          items: [{key: {{ $from.key }}, path: {{ $variable }}}]
      {{- end }}
{{- end }}
{{- end }}
