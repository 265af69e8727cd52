{{- /* The pod of a job, which runs the command once with the release's configuration. Services and the disruption budget do
not select its labels. Arguments: root, config (a ConfigMap), args, resources, backups (a claim, if any). */ -}}
{{- define "crossgate.job" -}}
{{- $values := .root.Values -}}
{{- $secrets := include "crossgate.secrets" .root | fromYaml -}}
metadata:
  labels:
    app.kubernetes.io/name: crossgate-job
    app.kubernetes.io/instance: {{ .root.Release.Name }}
    {{- with merge (dict) $values.podLabels $values.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  restartPolicy: Never
  {{- with include "crossgate.account" .root }}
  serviceAccountName: {{ . }}
  {{- end }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  securityContext:
    {{- toYaml $values.podSecurityContext | nindent 4 }}
  {{- with $values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  {{- with $values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if not $values.postgres.secret }}
  affinity: # the volume of the SQLite file belongs to one node
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        - topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              {{- include "crossgate.selector" .root | nindent 14 }}
  {{- end }}
  {{- with $values.initContainers }}
  initContainers:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: crossgate
      image: "{{ $values.image.repository }}:{{ default .root.Chart.AppVersion $values.image.tag }}"
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args: {{ toJson .args }}
      {{- with include "crossgate.environment" .root }}
      {{- . | nindent 6 }}
      {{- end }}
      resources:
        {{- toYaml .resources | nindent 8 }}
      securityContext:
        {{- toYaml $values.securityContext | nindent 8 }}
      volumeMounts:
        - {name: config, mountPath: /etc/crossgate, readOnly: true}
        - {name: scratch, mountPath: /tmp}
        {{- if $secrets }}
        - {name: secrets, mountPath: /run/secrets/crossgate, readOnly: true}
        {{- end }}
        {{- if not $values.postgres.secret }}
        - {name: data, mountPath: /data}
        {{- end }}
        {{- if hasKey . "backups" }}
        - {name: backups, mountPath: /backup}
        {{- end }}
        {{- with $values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: config
      configMap: {name: {{ .config }}}
    - name: scratch
      emptyDir: {}
    {{- with include "crossgate.secretsVolume" .root }}
    {{- . | nindent 4 }}
    {{- end }}
    {{- if not $values.postgres.secret }}
    - name: data
      persistentVolumeClaim: {claimName: {{ include "crossgate.name" .root }}}
    {{- end }}
    {{- with get . "backups" }}
    - name: backups
      persistentVolumeClaim: {claimName: {{ . }}}
    {{- end }}
    {{- with $values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
