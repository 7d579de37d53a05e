import { type PodPart, type PodParts, podPartOf } from '../../../platform/pod-settings.ts';
import { hashToken } from '../../reports/attempts.ts';
import type { Launch } from '../driver.ts';
import { nodesEnvironment, nodesLabel, podsOfJob } from './attempt-network.ts';
import { PRIORITY_LABEL, priorityOf, QUEUE_LABEL } from './kueue.ts';
import { GPU_RESOURCE } from './node-capacity.ts';
import { attemptLabels, attemptName, TOKEN_ANNOTATION } from './objects.ts';

export type PodSettings = {
  /** Runtime images for CPU and GPU work. */
  image: string;
  cudaImage: string;
  parts: PodParts;
};

export type JobPlace = {
  /** GPU product labels of eligible nodes; empty on the CPU. */
  products: string[];
  /** The user's Kueue queue; null if the scheduler places the pod directly. */
  queue: string | null;
};

/** Grace period for saving work or finishing open requests before the pod is killed. */
const GRACE_S = { run: 120, deployment: 1800 };
/** Part of the grace period reserved for reporting the end. */
const SAYS_SO_S = 30;
/** How long a finished Job is kept for inspection; its Secret is deleted with it. */
const KEPT_S = 24 * 60 * 60;
/** Pods on a node that is unreachable for longer are lost. */
const UNREACHABLE_S = 60;
const USER = 10_001;
const GIB = 2 ** 30;
/** CPUs of a pod without a GPU. */
export const POD_CPUS = 2;
const PER_GPU_CPUS = 4;

const TOKEN_DIR = '/var/run/bakehouse';
const GIVEN_DIR = '/given';
const WORK_DIR = '/work';
const CACHE_DIR = '/cache';
/** Tells the cluster autoscaler and Karpenter not to move a run to another node, which would repeat work. */
const NOT_MOVED = {
  'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
  'karpenter.sh/do-not-disrupt': 'true',
};
/** Port of all model servers behind a router, which knows only one port. */
const ROUTED_PORT = 8000;
const RUNTIME = ['python', '-m', 'bakehouse_runtime'];

/** Secret with the token of an attempt; only the attempt's pod mounts it. */
export function attemptSecret({ workloadId, attempt, server }: Launch) {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: attemptName(workloadId, attempt), labels: attemptLabels(workloadId, attempt) },
    immutable: true,
    stringData: { token: server.token },
  };
}

/** Returns the token's hash as stored in the database, for an annotation. */
export function tokenHash({ server }: Pick<Launch, 'server'>): string {
  return hashToken(server.token).toString('hex');
}

/**
 * Returns the Job of one attempt: one pod per node, which fetches its spec and inputs from the server. Never
 * retried by Kubernetes: the engine decides about another attempt, with a new token.
 */
export function attemptJob(launch: Launch, settings: PodSettings, place: JobPlace) {
  const { workloadId, attempt, behaviour, placement } = launch;
  const part = podPartOf(settings.parts, placement.accelerator);
  const annotations = { ...(behaviour === 'run' && NOT_MOVED), ...part.annotations };
  const labels = { ...attemptLabels(workloadId, attempt), ...nodesLabel(launch), ...deploymentLabel(launch) };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: attemptName(workloadId, attempt),
      labels: {
        ...labels,
        ...(place.queue !== null && { [QUEUE_LABEL]: place.queue, [PRIORITY_LABEL]: priorityOf(launch) }),
      },
      annotations: { [TOKEN_ANNOTATION]: tokenHash(launch) },
    },
    spec: {
      backoffLimit: 0,
      ...podsOfJob(launch),
      ttlSecondsAfterFinished: KEPT_S,
      ...(place.queue !== null && { suspend: true }),
      template: {
        metadata: { labels: { ...part.labels, ...labels, 'bakehouse/behaviour': behaviour }, annotations },
        spec: podSpec(launch, { settings, part, place }),
      },
    },
  };
}

function podSpec(
  launch: Launch,
  { settings, part, place }: { settings: PodSettings; part: PodPart; place: JobPlace },
) {
  const { placement, behaviour, spec } = launch;
  const { inputCache } = part;
  const isOnGpu = placement.accelerator !== null;
  const image = isOnGpu ? settings.cudaImage : settings.image;
  const resources = resourcesOf(launch);
  const container = {
    ...{ image, resources, securityContext: CONFINED, env: environmentOf(launch) },
    // The pod watch delivers the termination message.
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
  return {
    restartPolicy: 'Never',
    ...(launch.nodes > 1 && { subdomain: attemptName(launch.workloadId, launch.attempt) }),
    terminationGracePeriodSeconds: GRACE_S[behaviour],
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: USER,
      runAsGroup: USER,
      fsGroup: USER,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    ...schedulingOf(part, isOnGpu ? place.products : null),
    initContainers: [
      {
        ...container,
        name: 'fetch',
        command: [
          ...RUNTIME,
          ...fetchArguments(launch, resources),
          ...(inputCache ? ['--cache', CACHE_DIR] : []),
        ],
        env: [...container.env, ...(inputCache ? [cacheLimit(inputCache)] : [])],
        volumeMounts: [
          ...MOUNTS,
          { name: 'given', mountPath: GIVEN_DIR },
          { name: 'token', mountPath: TOKEN_DIR, readOnly: true },
          ...(inputCache ? [{ name: 'cache', mountPath: CACHE_DIR }] : []),
        ],
      },
    ],
    containers: [
      {
        ...container,
        name: 'work',
        command: [...RUNTIME, spec.kind, `${GIVEN_DIR}/spec.json`],
        // Routers skip servers that are not ready, so allow a busy server to respond slowly.
        ...(launch.deploymentId !== null && {
          readinessProbe: {
            httpGet: { path: '/health', port: ROUTED_PORT },
            periodSeconds: 5,
            timeoutSeconds: 10,
            failureThreshold: 6,
          },
        }),
        volumeMounts: [...MOUNTS, { name: 'given', mountPath: GIVEN_DIR, readOnly: true }],
      },
    ],
    volumes: volumesOf(launch, inputCache),
  };
}

function volumesOf({ workloadId, attempt }: Launch, inputCache: PodPart['inputCache']) {
  return [
    {
      name: 'token',
      secret: { secretName: attemptName(workloadId, attempt), defaultMode: 0o440 },
    },
    ...(inputCache ? [{ name: 'cache', persistentVolumeClaim: { claimName: inputCache.claimName } }] : []),
    { name: 'given', emptyDir: {} },
    { name: 'work', emptyDir: {} },
    { name: 'tmp', emptyDir: {} },
    { name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: '2Gi' } },
  ];
}

const CONFINED = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

const MOUNTS = [
  { name: 'work', mountPath: WORK_DIR },
  { name: 'tmp', mountPath: '/tmp' },
  { name: 'shm', mountPath: '/dev/shm' },
];

function environmentOf(launch: Launch) {
  return [
    { name: 'HOME', value: WORK_DIR },
    { name: 'TORCHINDUCTOR_CACHE_DIR', value: `${WORK_DIR}/.cache/torchinductor` },
    { name: 'HF_HUB_OFFLINE', value: '1' },
    { name: 'PYTHONUNBUFFERED', value: '1' },
    { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
    ...nodesEnvironment(launch),
    ...(launch.deploymentId === null ? [] : [{ name: 'BAKEHOUSE_OPEN_METRICS', value: '1' }]),
  ];
}

/** Label by which a router finds the pods of a deployment. */
function deploymentLabel({ deploymentId }: Launch): Record<string, string> {
  return deploymentId === null ? {} : { 'bakehouse/deployment': deploymentId };
}

function fetchArguments(
  { workloadId, deploymentId, server, behaviour }: Launch,
  { requests }: { requests: Record<string, string> },
): string[] {
  return [
    'fetch',
    ...['--server', server.base_url, '--workload', workloadId, '--token-file', `${TOKEN_DIR}/token`],
    ...['--folder', GIVEN_DIR, '--work-dir', WORK_DIR],
    ...['--host', '$(POD_IP)', ...(deploymentId === null ? [] : ['--port', String(ROUTED_PORT)])],
    ...['--threads', requests.cpu ?? '1'],
    ...['--leave-seconds', String(GRACE_S[behaviour] - SAYS_SO_S)],
  ];
}

/**
 * Requests memory by the size of the inputs: files are cached on disk and loaded (on a CPU in twice the
 * stored precision); training adds optimizer state. The limit is twice the request, so that an overrun kills
 * this pod instead of its neighbours.
 */
function resourcesOf({ spec, placement, behaviour }: Launch) {
  const bytes = spec.inputs.flatMap(({ files }) => files).reduce((sum, file) => sum + file.size_bytes, 0);
  const isOnGpu = placement.accelerator !== null;
  const cpus = isOnGpu ? PER_GPU_CPUS * placement.count : POD_CPUS;
  // Each GPU has a process that loads the files.
  const inMemory = { run: isOnGpu ? 1 + placement.count : 4, deployment: isOnGpu ? 1 : 1.5 }[behaviour];
  const memory = 2 * GIB + inMemory * bytes;
  const disk = 5 * GIB + 2 * bytes;
  return {
    requests: { cpu: String(cpus), memory: gibibytes(memory), 'ephemeral-storage': gibibytes(disk) },
    limits: {
      memory: gibibytes(2 * memory),
      'ephemeral-storage': gibibytes(2 * disk),
      ...(isOnGpu && { [GPU_RESOURCE]: String(placement.count) }),
    },
  };
}

function gibibytes(bytes: number): string {
  return `${Math.ceil(bytes / GIB)}Gi`;
}

function tolerations(isOnGpu: boolean) {
  const lost = ['not-ready', 'unreachable'].map((condition) => ({
    key: `node.kubernetes.io/${condition}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: UNREACHABLE_S,
  }));
  return isOnGpu ? [...lost, { key: GPU_RESOURCE, operator: 'Exists' }] : lost;
}

/** @param products GPU product labels of eligible nodes; null on the CPU. */
function schedulingOf(part: PodPart, products: string[] | null) {
  const { imagePullSecrets, runtimeClassName, priorityClassName, nodeSelector, affinity } = part;
  return {
    ...{ imagePullSecrets, runtimeClassName, priorityClassName, nodeSelector },
    tolerations: [...tolerations(products !== null), ...(part.tolerations ?? [])],
    affinity:
      products === null
        ? affinity
        : { ...affinity, nodeAffinity: { ...affinity?.nodeAffinity, ...onProducts(products) } },
  };
}

function onProducts(products: string[]) {
  const term = { key: 'nvidia.com/gpu.product', operator: 'In', values: products };
  return {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [term] }] },
  };
}

/** The runtime deletes the least recently used files above this size. */
function cacheLimit({ gigabytes }: { gigabytes: number }) {
  return { name: 'BAKEHOUSE_INPUT_CACHE_BYTES', value: String(Math.floor(gigabytes * 1e9)) };
}
