{{- define "platform.labels" -}}
app.kubernetes.io/name: platform
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Values.image.tag | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* Of one kind of process: (dict "root" $ "component" "web"). */}}
{{- define "platform.selector" -}}
app.kubernetes.io/name: platform
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* GRACE_SECONDS of platform/common/shutdown.py more than the drain. */}}
{{- define "platform.grace" -}}
{{- if and .Values.noticeSeconds (ge (int .Values.noticeSeconds) (int .Values.drainSeconds)) -}}
{{- fail "noticeSeconds must be less than drainSeconds, which it is a part of." -}}
{{- end -}}
{{ add .Values.drainSeconds 15 }}
{{- end }}

{{/* How many workers run at most while a release is rolled out: one more of each queue. */}}
{{- define "platform.workers" -}}
{{- $count := 0 -}}
{{- range .Values.workers -}}
{{- $count = add $count (ternary .autoscaling.maxReplicas .replicas .autoscaling.enabled) 1 -}}
{{- end -}}
{{ $count }}
{{- end }}

{{- define "platform.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "platform.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* What all containers share. */}}
{{- define "platform.container" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  {{- include "platform.containerSecurity" . | nindent 2 }}
envFrom:
  - configMapRef: {name: {{ .Release.Name }}-config}
  - secretRef: {name: {{ .Values.existingSecret }}}
volumeMounts:
  - {name: tmp, mountPath: /tmp}
  - {name: outputs, mountPath: /outputs}
  - {name: uploads, mountPath: /uploads}
{{- end }}

{{- define "platform.volumes" -}}
- name: tmp
  emptyDir: {sizeLimit: 512Mi}
- name: uploads
  persistentVolumeClaim: {claimName: {{ .Values.storage.uploadsClaim }}}
- name: outputs
{{- if .Values.storage.outputsClaim }}
  persistentVolumeClaim: {claimName: {{ .Values.storage.outputsClaim }}}
{{- else if .Values.config.OUTPUTS_BUCKET }}
  emptyDir: {}
{{- else }}
{{- fail "Set storage.outputsClaim, or config.OUTPUTS_BUCKET: files that models make would be lost." }}
{{- end }}
{{- end }}

{{/* What the ingress passes on: everything, or without the web app what the service has. */}}
{{- define "platform.paths" -}}
{{- $app := hasKey .Values.config "WEB_APP" | ternary .Values.config.WEB_APP "on" | toString | lower -}}
{{- has $app (list "on" "1" "true" "yes" "y" "ok") | ternary "/" "/api /v1 /files /admin /static" -}}
{{- end }}

{{/* Of one pod: (dict "root" $ "component" "web"). */}}
{{- define "platform.pod" -}}
serviceAccountName: {{ .root.Release.Name }}
automountServiceAccountToken: false
terminationGracePeriodSeconds: {{ include "platform.grace" .root }}
securityContext:
  {{- include "platform.podSecurity" .root | nindent 2 }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "platform.selector" $ | nindent 8 }}
  {{- end }}
volumes:
  {{- include "platform.volumes" .root | nindent 2 }}
{{- end }}
