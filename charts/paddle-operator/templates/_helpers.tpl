{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{/* An image by its full name: (list . IMAGE). The registry is for names without one. */}}
{{- define "paddle-operator.image" -}}
{{- $root := index . 0 }}{{ $image := index . 1 }}
{{- if and $root.Values.registry (not (contains "/" $image)) -}}
{{ $root.Values.registry }}/{{ $image }}
{{- else -}}
{{ $image }}
{{- end }}
{{- end }}

{{/* Where the operator finds etcd: what the user says, else the chart's own. */}}
{{- define "paddle-operator.etcd" -}}
{{- if .Values.elastic.etcdServer -}}
{{ .Values.elastic.etcdServer }}
{{- else if .Values.elastic.etcd.enabled -}}
paddle-elastic-etcd.{{ .Values.controllernamespace }}.svc.cluster.local:2379
{{- end }}
{{- end }}

{{/* A namespace whose jobs the operator runs, for tests and examples. */}}
{{- define "paddle-operator.jobs" -}}
{{ .Values.jobnamespace | default .Values.controllernamespace }}
{{- end }}
