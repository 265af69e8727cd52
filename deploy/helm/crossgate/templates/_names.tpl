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
{{- end }}

{{- /* Whether there is more than one gateway at times: then rules of several apply. */ -}}
{{- define "crossgate.several" -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.replicas) 1) }}true{{ end -}}
{{- end }}

{{- /* What the gateway reads: the values' config and what only the chart can know. */ -}}
{{- define "crossgate.config" -}}
{{- $index := dict "path" "/data/crossgate.db" }}
{{- if .Values.postgres.secret }}
{{- $index = dict "postgres" "${POSTGRES_URL}" }}
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
{{- $swap := default dict (get $config "swap") }}
{{- toYaml (dict "config" (pick $config "listen" "tls" "connections" "drain" "index" "cache" "telemetry") "deadline" (get $swap "deadline")) | sha256sum }}
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
{{- $_ := set $secrets "POSTGRES_URL" .Values.postgres }}
{{- end }}
{{- if .Values.valkey.secret }}
{{- $_ := set $secrets "VALKEY_URL" .Values.valkey }}
{{- end }}
{{- toYaml $secrets }}
{{- end }}
