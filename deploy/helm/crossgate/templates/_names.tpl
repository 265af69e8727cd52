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

{{- /* What annotates an object: what the values say for all, and what is its own. */ -}}
{{- define "crossgate.annotations" -}}
{{- with merge (dict) (default dict (get . "own")) .root.Values.annotations -}}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Whether there is more than one gateway at times: then rules of several apply. */ -}}
{{- define "crossgate.several" -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.replicas) 1) }}true{{ end -}}
{{- end }}

{{- /* How many gateways there are at most, but for the one more while pods are replaced. */ -}}
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

{{- /* index.connections: as many, up to the gateway's default of 8, as PostgreSQL has for each gateway. It opens 5 more, for
writing, notifications and pings. */ -}}
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

{{- /* What the gateway reads: the values' config and what only the chart can know. */ -}}
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

{{- /* What a running gateway does not take over: pods are replaced when it changes, and only then. */ -}}
{{- define "crossgate.restart" -}}
{{- $config := include "crossgate.config" . | fromYaml }}
{{- $telemetry := omit $config.telemetry "level" "clients" }}
{{- $redis := get (default dict (get $config "events")) "redis" }}
{{- $stored := get (default dict (get $config "passthrough")) "maxBytes" }}
{{- $keys := pick $config "listen" "tls" "connections" "drain" "mcp" "index" "cache" }}
{{- toYaml (dict "config" $keys "telemetry" $telemetry "redis" $redis "stored" $stored) | sha256sum }}
{{- end }}

{{- /* Where probes ask: the public listener, or that of operators where only clients with a certificate are answered. */ -}}
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

{{- /* Secrets by the name that the configuration has for them. */ -}}
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

{{- /* The account of the pods; empty: the namespace's own. */ -}}
{{- define "crossgate.account" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "crossgate.name" .) .Values.serviceAccount.name }}
{{- else }}
{{- .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- /* What a probe asks at a path, and how often. */ -}}
{{- define "crossgate.probe" -}}
httpGet: {path: {{ .path }}, {{ include "crossgate.probed" .root }}}
{{ toYaml .how }}
{{- end }}

{{- /* What a container finds in its environment: where its secrets are, and what the values say. */ -}}
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

{{- /* The volume of the secrets, an item of volumes; empty without secrets. */ -}}
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
