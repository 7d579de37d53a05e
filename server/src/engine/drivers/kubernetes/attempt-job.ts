import { hashToken } from '../../reports/workload-token.ts';
import type { Launch } from '../driver.ts';
import { nodesEnvironment, nodesLabel, podsOfJob } from './attempt-network.ts';
import { PRIORITY_LABEL, priorityOf, QUEUE_LABEL } from './kueue.ts';
import { GPU_RESOURCE } from './node-capacity.ts';
import { attemptLabels, attemptName, TOKEN_ANNOTATION } from './objects.ts';

export type PodSettings = {
  /** Of the runtime for work on the CPU, and on GPUs. */
  image: string;
  cudaImage: string;
};

export type JobPlace = {
  /** Product labels of the nodes that it may run on; empty on the CPU. */
  products: string[];
  /** The user's queue in Kueue; null: the scheduler places the pod at once. */
  queue: string | null;
};

/** How long a pod may take to save its work, or to finish what its callers wait for, before it is killed. */
const GRACE_S = { run: 120, deployment: 1800 };
/** What is left of it to report the end. */
const SAYS_SO_S = 30;
/** A finished Job is kept so long for who looks at it; its Secret goes with it. */
const KEPT_S = 24 * 60 * 60;
/** A node that is out of reach for longer has lost its pods. */
const UNREACHABLE_S = 60;
const USER = 10_001;
const GIB = 2 ** 30;
/** Processors of a pod without a GPU. */
export const POD_CPUS = 2;
const PER_GPU_CPUS = 4;

const TOKEN_DIR = '/var/run/bakehouse';
const GIVEN_DIR = '/given';
const WORK_DIR = '/work';
/** Where model servers behind a router listen: it is told one port for all. */
const ROUTED_PORT = 8000;
const RUNTIME = ['python', '-m', 'bakehouse_runtime'];

/** Holds the token of an attempt, which its pod alone mounts. */
export function attemptSecret({ workloadId, attempt, server }: Launch) {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: attemptName(workloadId, attempt), labels: attemptLabels(workloadId, attempt) },
    immutable: true,
    stringData: { token: server.token },
  };
}

/** What the database knows a token by, as an annotation has it. */
export function tokenHash({ server }: Pick<Launch, 'server'>): string {
  return hashToken(server.token).toString('hex');
}

/**
 * The Job of one attempt: a pod on each of its nodes that asks the server for its spec and inputs, and then works on them.
 * It is tried once: whatever ends it, the engine decides on another attempt, with another token.
 */
export function attemptJob(launch: Launch, settings: PodSettings, place: JobPlace) {
  const { workloadId, attempt, behaviour } = launch;
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
        metadata: { labels: { ...labels, 'bakehouse/behaviour': behaviour } },
        spec: podSpec(launch, settings, place),
      },
    },
  };
}

function podSpec(launch: Launch, settings: PodSettings, { products }: JobPlace) {
  const { placement, behaviour, spec } = launch;
  const isOnGpu = placement.accelerator !== null;
  const image = isOnGpu ? settings.cudaImage : settings.image;
  const resources = resourcesOf(launch);
  const container = {
    ...{ image, resources, securityContext: CONFINED, env: environmentOf(launch) },
    // Its last words come with the watch.
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
    tolerations: tolerations(isOnGpu),
    ...(isOnGpu && { affinity: onProducts(products) }),
    initContainers: [
      {
        ...container,
        name: 'fetch',
        command: [...RUNTIME, ...fetchArguments(launch, resources)],
        volumeMounts: [
          ...MOUNTS,
          { name: 'given', mountPath: GIVEN_DIR },
          { name: 'token', mountPath: TOKEN_DIR, readOnly: true },
        ],
      },
    ],
    containers: [
      {
        ...container,
        name: 'work',
        command: [...RUNTIME, spec.kind, `${GIVEN_DIR}/spec.json`],
        // Routers leave out those that load; a busy one may take its time to say so.
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
    volumes: [
      {
        name: 'token',
        secret: { secretName: attemptName(launch.workloadId, launch.attempt), defaultMode: 0o440 },
      },
      { name: 'given', emptyDir: {} },
      { name: 'work', emptyDir: {} },
      { name: 'tmp', emptyDir: {} },
      { name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: '2Gi' } },
    ],
  };
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

/** The label by which a router finds the pods of a deployment. */
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
 * By the files that it works on: they are on the pod's disk, and are loaded, on a CPU in twice the precision that they
 * are stored in, and with what a training keeps beside them. Twice that is the end of it, and not of its neighbours.
 */
function resourcesOf({ spec, placement, behaviour }: Launch) {
  const bytes = spec.inputs.flatMap(({ files }) => files).reduce((sum, file) => sum + file.size_bytes, 0);
  const isOnGpu = placement.accelerator !== null;
  const cpus = isOnGpu ? PER_GPU_CPUS * placement.count : POD_CPUS;
  // Each of several GPUs has a process that loads the files.
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

function onProducts(products: string[]) {
  const term = { key: 'nvidia.com/gpu.product', operator: 'In', values: products };
  return {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [term] }] },
    },
  };
}
