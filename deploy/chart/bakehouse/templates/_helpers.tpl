{{- define "bakehouse.name" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "bakehouse.labels" -}}
app.kubernetes.io/name: bakehouse
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* Arguments: root, role. */}}
{{- define "bakehouse.selector" -}}
app.kubernetes.io/name: bakehouse
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{/* A constant machine id: the release remains the same machine of its database when its pods are recreated. */}}
{{- define "bakehouse.machine" -}}
{{- if .Values.machine }}{{ .Values.machine }}{{ else }}
{{- $hash := sha256sum (printf "%s/%s" .Release.Namespace .Release.Name) -}}
{{ printf "%s-%s-8%s-8%s-%s" (substr 0 8 $hash) (substr 8 12 $hash) (substr 12 15 $hash) (substr 15 18 $hash) (substr 18 30 $hash) }}
{{- end }}
{{- end }}

{{/* All settings that are read from secrets, by name. */}}
{{- define "bakehouse.secretSettings" -}}
{{- $all := dict "DATABASE_URL" .Values.database "BAKEHOUSE_SECRET" .Values.secret "BAKEHOUSE_METRICS_TOKEN" .Values.metrics -}}
{{- toYaml (merge $all .Values.secretSettings) -}}
{{- end }}

{{- define "bakehouse.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* The environment of a server. Arguments: root, role. */}}
{{- define "bakehouse.env" -}}
- name: BAKEHOUSE_MACHINE_HOST
  valueFrom: { fieldRef: { fieldPath: status.podIP } }
{{- range $name, $_ := fromYaml (include "bakehouse.secretSettings" .root) }}
- name: {{ $name }}_FILE
  value: /var/run/bakehouse/secrets/{{ $name }}
{{- end }}
{{- with .root.Values.s3.credentialsSecret }}
- name: AWS_SHARED_CREDENTIALS_FILE
  value: /var/run/bakehouse/s3/credentials
{{- end }}
{{- if eq .role "reconciler" }}
- name: BAKEHOUSE_PREPARE
  value: "true"
{{- else }}
- name: BAKEHOUSE_READER
  value: /run/bakehouse/reader
- name: BAKEHOUSE_PREPARE
  value: "false"
{{- end }}
{{- if eq .role "web" }}
- name: BAKEHOUSE_DRAIN_SECONDS
  value: {{ .root.Values.web.drainSeconds | quote }}
{{- else }}
- name: BAKEHOUSE_MONITORING_PORT
  value: "4081"
{{- end }}
{{- end }}

{{- define "bakehouse.volumeMounts" -}}
- { name: data, mountPath: /var/lib/bakehouse }
- { name: tmp, mountPath: /tmp }
- { name: secrets, mountPath: /var/run/bakehouse/secrets, readOnly: true }
{{- if .root.Values.s3.credentialsSecret }}
- { name: s3, mountPath: /var/run/bakehouse/s3, readOnly: true }
{{- end }}
{{- if eq .role "reconciler" }}
- { name: machine, mountPath: /var/lib/bakehouse/machine, subPath: machine, readOnly: true }
{{- else }}
- { name: reader, mountPath: /run/bakehouse }
{{- end }}
{{- end }}

{{- define "bakehouse.volumes" -}}
- name: data
  emptyDir: { sizeLimit: {{ .root.Values.scratchSize }} }
- name: tmp
  emptyDir: { sizeLimit: 1Gi }
- name: secrets
  projected:
    defaultMode: 0440
    sources:
{{- range $name, $from := fromYaml (include "bakehouse.secretSettings" .root) }}
      - secret:
          name: {{ $from.secret }}
          items: [{ key: {{ $from.key }}, path: {{ $name }} }]
{{- end }}
{{- with .root.Values.s3.credentialsSecret }}
- name: s3
  secret: { secretName: {{ . }}, defaultMode: 0440 }
{{- end }}
{{- if eq .role "reconciler" }}
- name: machine
  configMap: { name: {{ include "bakehouse.name" .root }}-machine }
{{- else }}
- name: reader
  emptyDir: { medium: Memory, sizeLimit: 1Mi }
- name: reader-tmp
  emptyDir: { sizeLimit: 2Gi }
{{- end }}
{{- end }}

{{/* Creates the folders that the reader mounts, then starts the reader as a sidecar for the lifetime of the server. */}}
{{- define "bakehouse.initContainers" -}}
- name: prepare
  image: {{ .root.Values.images.server }}
  imagePullPolicy: {{ .root.Values.imagePullPolicy }}
  command: [/opt/bakehouse/entrypoint.sh, mkdir, -p, -m, "0711", /var/lib/bakehouse/lent]
  securityContext: {{- include "bakehouse.securityContext" . | nindent 4 }}
  resources:
    requests: { cpu: 10m, memory: 32Mi }
    limits: { memory: 128Mi }
  volumeMounts:
    - { name: data, mountPath: /var/lib/bakehouse }
{{- if ne .role "reconciler" }}
- name: reader
  image: {{ .root.Values.images.server }}
  imagePullPolicy: {{ .root.Values.imagePullPolicy }}
  restartPolicy: Always
  command: [node, server/src/platform/sandbox/reader/reader-program.ts, /run/bakehouse/reader]
  # A different user in the same group: it can read lent files but not change them.
  securityContext:
    runAsUser: 10002
    {{- include "bakehouse.securityContext" . | nindent 4 }}
  resources: {{- toYaml .root.Values.reader.resources | nindent 4 }}
  volumeMounts:
    - { name: data, mountPath: /var/lib/bakehouse/lent, subPath: lent }
    - { name: reader, mountPath: /run/bakehouse }
    - { name: reader-tmp, mountPath: /tmp }
{{- end }}
{{- end }}

{{/* A Deployment of one role. Arguments: root, role, replicas, resources, probes' port, account. */}}
{{- define "bakehouse.deployment" -}}
{{- $root := .root -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "bakehouse.name" $root }}-{{ .role }}
  labels:
    {{- include "bakehouse.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
spec:
  replicas: {{ if $root.Values.paused }}0{{ else }}{{ .replicas }}{{ end }}
  strategy:
    {{- if eq .role "reconciler" }}
    # Only one reconciler may run: Kubernetes starts the new one after the old one has ended.
    type: Recreate
    {{- else }}
    type: RollingUpdate
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
    {{- end }}
  selector:
    matchLabels: {{- include "bakehouse.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "bakehouse.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ .role }}
      annotations:
        checksum/settings: {{ include (print $root.Template.BasePath "/settings.yaml") $root | sha256sum }}
    spec:
      serviceAccountName: {{ .account }}
      automountServiceAccountToken: {{ eq .role "reconciler" }}
      terminationGracePeriodSeconds: {{ add 180 (ternary $root.Values.web.drainSeconds 0 (eq .role "web")) }}
      enableServiceLinks: false
      securityContext:
        runAsNonRoot: true
        runAsUser: 10001
        runAsGroup: 10001
        fsGroup: 10001
        fsGroupChangePolicy: OnRootMismatch
        seccompProfile: { type: RuntimeDefault }
      {{- with $root.Values.imagePullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels: {{- include "bakehouse.selector" . | nindent 14 }}
      initContainers: {{- include "bakehouse.initContainers" . | nindent 8 }}
      containers:
        - name: {{ .role }}
          image: {{ $root.Values.images.server }}
          imagePullPolicy: {{ $root.Values.imagePullPolicy }}
          args: [--services={{ .role }}]
          envFrom:
            - configMapRef: { name: {{ include "bakehouse.name" $root }}-settings }
            {{- if eq .role "reconciler" }}
            - configMapRef: { name: {{ include "bakehouse.name" $root }}-cluster }
            {{- end }}
          env: {{- include "bakehouse.env" . | nindent 12 }}
          ports:
            - { name: http, containerPort: {{ .port }} }
          # The first start may migrate the database.
          startupProbe:
            httpGet: { path: /healthz, port: http }
            periodSeconds: 5
            failureThreshold: 60
          livenessProbe:
            httpGet: { path: /healthz, port: http }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          readinessProbe:
            httpGet: { path: /readyz, port: http }
            periodSeconds: 5
            timeoutSeconds: 5
            failureThreshold: 2
          {{- if eq .role "web" }}
          # Until Kubernetes has stopped routing new requests to this pod.
          lifecycle:
            preStop: { sleep: { seconds: 10 } }
          {{- end }}
          securityContext: {{- include "bakehouse.securityContext" . | nindent 12 }}
          resources: {{- toYaml .resources | nindent 12 }}
          volumeMounts: {{- include "bakehouse.volumeMounts" . | nindent 12 }}
      volumes: {{- include "bakehouse.volumes" . | nindent 8 }}
{{- end }}
