import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Cluster } from '../cluster.ts';
import type { PodContainer, PodProcess, WholePod } from './fake-kubelet.ts';

/** Pod address reported by this node's kubelet. */
const POD_IP = '127.0.0.1';
const LINES_KEPT = 2000;

/**
 * Runs the containers of a pod one after the other as local processes. Mounts become folders, and the given
 * program replaces `python`. Images are not tested.
 */
export function podProcesses({
  cluster,
  python,
  env,
}: {
  cluster: Cluster;
  python: string;
  env: Record<string, string | undefined>;
}) {
  const printed = new Map<string, string[]>();

  function run(pod: WholePod): PodProcess {
    const lines: string[] = [];
    printed.set(pod.metadata.name, lines);
    let child: ChildProcess | null = null;
    let isStopped = false;

    async function execute(): Promise<number> {
      const dir = await mkdtemp(path.join(tmpdir(), 'bakehouse-pod-'));
      try {
        await mountVolumes(cluster, pod, dir);
        for (const container of [...pod.spec.initContainers, ...pod.spec.containers]) {
          if (isStopped) return 143;
          const inside = (text: string) => onThisMachine(text, container, dir);
          const [, ...args] = container.command.map(inside);
          child = spawn(python, args, {
            env: {
              ...env,
              ...Object.fromEntries(
                (container.env ?? []).map(({ name, value }) => [name, inside(value ?? '')]),
              ),
            },
            stdio: ['ignore', 'pipe', 'pipe'],
          });
          for (const stream of [child.stdout, child.stderr])
            stream?.on('data', (data: Buffer) =>
              lines.push(...data.toString().trimEnd().split('\n').slice(-LINES_KEPT)),
            );
          const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
          const status = code ?? (signal === 'SIGKILL' ? 137 : 143);
          if (status !== 0) return status;
        }
        return 0;
      } finally {
        await rm(dir, { recursive: true, force: true });
      }
    }

    return {
      ended: execute().then((exitCode) => ({
        exitCode,
        message: exitCode === 0 ? '' : lines.slice(-5).join('\n'),
      })),
      stop: () => {
        isStopped = true;
        child?.kill('SIGTERM');
      },
      kill: () => {
        isStopped = true;
        child?.kill('SIGKILL');
      },
    };
  }

  return { run, logs: (podName: string) => printed.get(podName) ?? [] };
}

async function mountVolumes(cluster: Cluster, pod: WholePod, dir: string): Promise<void> {
  for (const volume of pod.spec.volumes) {
    const folder = path.join(dir, volume.name);
    await mkdir(folder);
    if (!volume.secret) continue;
    const { data } = await cluster.call<{ data: Record<string, string> }>(
      'GET',
      `/api/v1/namespaces/${cluster.namespace}/secrets/${volume.secret.secretName}`,
    );
    for (const [name, base64] of Object.entries(data))
      await writeFile(path.join(folder, name), Buffer.from(base64, 'base64'));
  }
}

/** Maps a path in a container, and resolves references that only the kubelet knows. */
function onThisMachine(text: string, { volumeMounts }: PodContainer, dir: string): string {
  const mount = volumeMounts.find(({ mountPath }) => text === mountPath || text.startsWith(`${mountPath}/`));
  const there = mount ? path.join(dir, mount.name, text.slice(mount.mountPath.length)) : text;
  return there.replaceAll('$(POD_IP)', POD_IP);
}
