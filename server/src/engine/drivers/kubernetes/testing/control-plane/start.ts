import { execFile, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import https from 'node:https';
import { homedir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../../../../../testing/ports/free-port.ts';
import { type Cluster, openCluster } from '../../cluster.ts';
import { sendLog } from '../send-log.ts';

const run = promisify(execFile);
const TOKEN = 'a-token-of-the-test';
/** Output folder of `build.sh`. */
const PROGRAMS = path.join(homedir(), '.cache/bakehouse/kubernetes');
const READY_MS_MAX = 120_000;

export type ControlPlane = {
  kubeconfig: string;
  cluster: Cluster;
  /** Creates a node that a fake kubelet may report for. */
  addNode: (name: string, gpus?: { product: string; count: number }) => Promise<void>;
  /** Sets what all kubelets return as the log of a pod. */
  setLogs: (logs: (podName: string) => string[]) => void;
  /** Kills a program; `resume` restarts it with the same data. */
  stop: (name: ProgramName) => Promise<void>;
  resume: (name: ProgramName) => Promise<void>;
  close: () => Promise<void>;
};

export type ProgramName = 'etcd' | 'apiserver' | 'controllers' | 'scheduler' | 'kueue';
type Program = { command: string; args: string[]; child: ReturnType<typeof spawn> | null };

/**
 * A real control plane without kubelets as local processes: etcd, API server, controllers, scheduler and
 * optionally Kueue. Builds missing programs. `dir` holds its files.
 */
export async function startControlPlane({
  dir,
  namespace,
  kueue = false,
  losesNodes = false,
}: {
  dir: string;
  namespace: string;
  kueue?: boolean;
  /** Whether silent nodes are marked as lost; otherwise nodes need no kubelet. */
  losesNodes?: boolean;
}): Promise<ControlPlane> {
  await build();
  await mkdir(path.join(dir, 'log'), { recursive: true });
  const ports = await choosePorts();
  const api = `https://127.0.0.1:${ports.api}`;
  const kubeconfig = path.join(dir, 'kubeconfig');
  await writeKeys(dir);
  await writeFile(kubeconfig, kubeconfigOf(api));
  const programs = programsOf(dir, ports, kubeconfig, losesNodes);
  const kubelet = await serveLogs(dir, ports.kubelet);

  const { start, end } = runner(dir, programs);
  await start('etcd');
  await start('apiserver');
  const cluster = await openCluster({ kubeconfig, namespace });
  await ready('the API server', () => cluster.readText('/readyz'));
  await start('controllers');
  await start('scheduler');
  await makeNamespace(cluster, namespace);
  await ready('the controllers', () =>
    cluster.call('GET', `/api/v1/namespaces/${namespace}/serviceaccounts/default`),
  );
  if (kueue) {
    await installKueue({ dir, kubeconfig, cluster, port: ports.webhooks, health: ports.kueue });
    await start('kueue');
    await ready('Kueue', () =>
      fetch(`http://127.0.0.1:${ports.kueue}/readyz`).then(({ ok }) => ok || Promise.reject()),
    );
  }
  return {
    kubeconfig,
    cluster,
    addNode: (name, gpus) => addNode(cluster, name, ports.kubelet, gpus),
    setLogs: kubelet.setLogs,
    stop: end,
    resume: async (name) => {
      await start(name);
      const isServed = name === 'apiserver' || (name === 'etcd' && programs.apiserver.child !== null);
      if (isServed) await ready(name, () => cluster.readText('/readyz'));
    },
    close: async () => {
      cluster.close();
      kubelet.close();
      for (const name of ['kueue', 'scheduler', 'controllers', 'apiserver', 'etcd'] as const) await end(name);
    },
  };
}

/** Starts and kills the programs; their output goes to files. */
function runner(dir: string, programs: Record<ProgramName, Program>) {
  async function start(name: ProgramName): Promise<void> {
    const program = programs[name];
    const log = createWriteStream(path.join(dir, 'log', name), { flags: 'a' });
    await once(log, 'open');
    program.child = spawn(program.command, program.args, { cwd: dir, stdio: ['ignore', log, log] });
  }
  async function end(name: ProgramName): Promise<void> {
    const { child } = programs[name];
    if (!child || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    programs[name].child = null;
  }
  return { start, end };
}

async function build(): Promise<void> {
  const isBuilt = await access(path.join(PROGRAMS, 'kueue.yaml')).then(
    () => true,
    () => false,
  );
  if (!isBuilt)
    await run('bash', [path.join(import.meta.dirname, 'build.sh'), PROGRAMS], { maxBuffer: 2 ** 26 });
}

async function choosePorts() {
  const names = ['etcd', 'peers', 'api', 'controllers', 'scheduler', 'webhooks', 'kueue', 'kubelet'] as const;
  const ports: [string, number][] = [];
  for (const name of names) ports.push([name, await freePort()]);
  return Object.fromEntries(ports) as Record<(typeof names)[number], number>;
}

/** Keys of service accounts, and the administrator's token. */
async function writeKeys(dir: string): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  await writeFile(path.join(dir, 'accounts.key'), privateKey);
  await writeFile(path.join(dir, 'accounts.pub'), publicKey);
  await writeFile(path.join(dir, 'tokens.csv'), `${TOKEN},admin,admin,"system:masters"\n`);
}

function programsOf(
  dir: string,
  ports: Awaited<ReturnType<typeof choosePorts>>,
  kubeconfig: string,
  losesNodes: boolean,
): Record<ProgramName, Program> {
  const local = (port: number) => `http://127.0.0.1:${port}`;
  const program = (name: string, args: string[]): Program => ({
    command: path.join(PROGRAMS, name),
    args,
    child: null,
  });
  const asAdmin = ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'].map(
    (flag) => `--${flag}=${kubeconfig}`,
  );
  const serving = (port: number, name: string) => [
    ...['--bind-address=127.0.0.1', `--secure-port=${port}`, `--cert-dir=${dir}/certificates-${name}`],
    '--leader-elect=false',
  ];
  const without = [
    'node-ipam-controller',
    ...(losesNodes ? [] : ['node-lifecycle-controller', 'taint-eviction-controller']),
  ];
  return {
    etcd: program('etcd', [
      ...['--name=test', `--data-dir=${dir}/etcd`, '--unsafe-no-fsync'],
      ...[`--listen-client-urls=${local(ports.etcd)}`, `--advertise-client-urls=${local(ports.etcd)}`],
      ...[`--listen-peer-urls=${local(ports.peers)}`, `--initial-advertise-peer-urls=${local(ports.peers)}`],
      `--initial-cluster=test=${local(ports.peers)}`,
    ]),
    apiserver: program('kube-apiserver', [
      ...[`--etcd-servers=${local(ports.etcd)}`, '--bind-address=127.0.0.1', `--secure-port=${ports.api}`],
      ...[
        '--advertise-address=127.0.0.1',
        '--endpoint-reconciler-type=none',
        `--cert-dir=${dir}/certificates-api`,
      ],
      ...['--service-cluster-ip-range=10.96.0.0/16', '--authorization-mode=RBAC', '--allow-privileged=false'],
      ...[`--token-auth-file=${dir}/tokens.csv`, '--service-account-issuer=https://kubernetes.default.svc'],
      ...[
        `--service-account-key-file=${dir}/accounts.pub`,
        `--service-account-signing-key-file=${dir}/accounts.key`,
      ],
      ...['--enable-priority-and-fairness=false', '--profiling=false'],
    ]),
    controllers: program('kube-controller-manager', [
      ...asAdmin,
      ...serving(ports.controllers, 'controllers'),
      ...[`--service-account-private-key-file=${dir}/accounts.key`, '--allocate-node-cidrs=false'],
      ...[`--controllers=*,${without.map((name) => `-${name}`).join(',')}`],
      ...['--node-monitor-period=1s', '--node-monitor-grace-period=8s'],
      ...['--kube-api-qps=200', '--kube-api-burst=400'],
    ]),
    scheduler: program('kube-scheduler', [...asAdmin, ...serving(ports.scheduler, 'scheduler')]),
    kueue: program('kueue', [`--config=${dir}/kueue.yaml`, `--kubeconfig=${kubeconfig}`]),
  };
}

function kubeconfigOf(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'admin', user: { token: TOKEN } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    'current-context': 'test',
  });
}

/** Waits until a call succeeds. */
async function ready(what: string, call: () => Promise<unknown>): Promise<void> {
  const until = performance.now() + READY_MS_MAX;
  for (;;) {
    try {
      await call();
      return;
    } catch (error) {
      if (performance.now() > until) throw new Error(`${what} did not become ready`, { cause: error });
      await sleep(200);
    }
  }
}

async function makeNamespace(cluster: Cluster, name: string): Promise<void> {
  await cluster.call('POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  });
}

/** The log endpoint of a kubelet. */
async function serveLogs(dir: string, port: number) {
  let logs: (podName: string) => string[] = () => [];
  const [key, cert] = ['kubelet.key', 'kubelet.crt'].map((file) => path.join(dir, file)) as [string, string];
  const subject = ['-subj', '/CN=kubelet', '-days', '30', '-newkey', 'rsa:2048', '-nodes'];
  await run('openssl', ['req', '-x509', ...subject, '-keyout', key, '-out', cert]);
  const server = https.createServer(
    { key: await readFile(key), cert: await readFile(cert) },
    (request, response) => {
      const url = new URL(request.url ?? '/', 'https://localhost');
      sendLog(response, logs(url.pathname.split('/')[3] ?? ''), url.searchParams);
    },
  );
  server.listen(port, '127.0.0.1');
  return {
    setLogs: (given: typeof logs) => {
      logs = given;
    },
    close: () => void server.close(),
  };
}

async function addNode(
  cluster: Cluster,
  name: string,
  port: number,
  gpus?: { product: string; count: number },
): Promise<void> {
  const amounts = { cpu: '64', memory: '512Gi', pods: '250', 'ephemeral-storage': '4Ti' };
  const all = { ...amounts, ...(gpus && { 'nvidia.com/gpu': String(gpus.count) }) };
  await cluster.call('POST', '/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        ...(gpus && {
          ...{ 'nvidia.com/gpu.product': gpus.product, 'nvidia.com/gpu.memory': '81559' },
          ...{ 'nvidia.com/gpu.compute.major': '9', 'nvidia.com/gpu.compute.minor': '0' },
          'nvidia.com/cuda.driver.major': '580',
        }),
      },
    },
  });
  // A new node has a taint until its controller has seen it; replace that taint.
  const taints = gpus ? [{ key: 'nvidia.com/gpu', value: 'present', effect: 'NoSchedule' }] : [];
  await cluster.call('PATCH', `/api/v1/nodes/${name}`, { spec: { taints } });
  const condition = {
    type: 'Ready',
    status: 'True',
    reason: 'KubeletReady',
    lastHeartbeatTime: new Date().toISOString(),
  };
  await cluster.call('PATCH', `/api/v1/nodes/${name}/status`, {
    status: {
      ...{ allocatable: all, capacity: all, conditions: [condition] },
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    },
  });
}

/** Installs its CRDs, its webhooks at a local address, and its certificate. */
async function installKueue({
  dir,
  kubeconfig,
  cluster,
  port,
  health,
}: {
  dir: string;
  kubeconfig: string;
  cluster: Cluster;
  port: number;
  health: number;
}): Promise<void> {
  await makeNamespace(cluster, 'kueue-system');
  const name = 'kueue-webhook-service.kueue-system.svc';
  const folder = path.join(dir, 'kueue-certificates');
  await mkdir(folder);
  await run('bash', ['-c', CERTIFICATES, 'bash', name], { cwd: folder });
  const data = Object.fromEntries(
    await Promise.all(
      ['ca.crt', 'ca.key', 'tls.crt', 'tls.key'].map(async (file) => [
        file,
        (await readFile(path.join(folder, file))).toString('base64'),
      ]),
    ),
  );
  const manifest = (await readFile(path.join(PROGRAMS, 'kueue.yaml'), 'utf8')).replaceAll(
    /^( *)service:\n +name: .*\n +namespace: .*\n +path: (.*)$/gm,
    `$1url: https://127.0.0.1:${port}$2\n$1caBundle: ${data['ca.crt']}`,
  );
  await writeFile(path.join(dir, 'kinds.yaml'), manifest);
  await cluster.call('POST', '/api/v1/namespaces/kueue-system/secrets', {
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'kueue-webhook-server-cert' }, data },
  });
  const kubectl = path.join(PROGRAMS, 'kubectl');
  await run(
    kubectl,
    ['--kubeconfig', kubeconfig, 'apply', '--server-side', '-f', path.join(dir, 'kinds.yaml')],
    {
      maxBuffer: 2 ** 26,
      env: { ...process.env, HOME: dir },
    },
  );
  await writeFile(
    path.join(dir, 'kueue.yaml'),
    JSON.stringify({
      ...{ apiVersion: 'config.kueue.x-k8s.io/v1beta2', kind: 'Configuration', namespace: 'kueue-system' },
      health: { healthProbeBindAddress: `127.0.0.1:${health}` },
      metrics: { bindAddress: '0' },
      webhook: { host: '127.0.0.1', port, certDir: folder },
      leaderElection: { leaderElect: false },
      clientConnection: { qps: 200, burst: 400 },
      // Disabled because it requires an aggregated API server.
      featureGates: { VisibilityOnDemand: false },
      integrations: { frameworks: ['batch/job'] },
      admissionFairSharing: {
        ...{ usageHalfLifeTime: '1m', usageSamplingInterval: '1s' },
        resourceWeights: { cpu: 0, memory: 0, 'ephemeral-storage': 0 },
      },
    }),
  );
}

/** Kueue replaces certificates that do not have the expected names and years, or keys that are not PKCS#1. */
const CERTIFICATES = `set -e
exec 2> openssl.log
openssl genrsa -traditional -out ca.key 2048
openssl req -x509 -new -key ca.key -subj /O=kueue/CN=kueue-ca -days 3650 -out ca.crt \\
  -addext basicConstraints=critical,CA:TRUE -addext subjectAltName=DNS:kueue-ca \\
  -addext keyUsage=critical,keyCertSign,digitalSignature,keyEncipherment
openssl genrsa -traditional -out tls.key 2048
printf 'keyUsage=critical,digitalSignature,keyEncipherment\\nextendedKeyUsage=serverAuth\\n' > tls.ext
printf 'basicConstraints=critical,CA:FALSE\\nsubjectAltName=DNS:%s,IP:127.0.0.1\\n' "$1" >> tls.ext
openssl req -new -key tls.key -subj "/CN=$1" | openssl x509 -req -CA ca.crt -CAkey ca.key \\
  -CAcreateserial -days 3650 -extfile tls.ext -out tls.crt`;
