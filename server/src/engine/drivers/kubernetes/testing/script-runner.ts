import type { Launch } from '../../driver.ts';
import type { FakeProcess } from '../../fake/fake-driver.ts';
import { attemptOf } from '../objects.ts';
import type { PodProcess, WholePod } from './fake-kubelet.ts';

/** A script that also receives its pod, which holds the rank of its node. */
export type NodeScript = (launch: Launch, process: FakeProcess & { pod: WholePod }) => Promise<number>;

/** Runs pods as scripts, which receive the launches of their Jobs, and records their output. */
export function scriptRunner(script: NodeScript) {
  const launches = new Map<string, Launch>();
  const lines = new Map<string, string[]>();
  const keyOf = ({ workloadId, attempt }: Launch) => `${workloadId}/${attempt}`;

  function run(pod: WholePod): PodProcess {
    const of = attemptOf(pod);
    const launch = of && launches.get(`${of.id}/${of.attempt}`);
    const printed: string[] = [];
    lines.set(pod.metadata.name, printed);
    if (!launch)
      return { ended: Promise.resolve({ exitCode: 1, message: 'nobody knows it' }), stop() {}, kill() {} };
    const stop = new AbortController();
    const killed = new AbortController();
    const death = new Promise<number>((resolve) => {
      killed.signal.addEventListener('abort', () => resolve(137));
    });
    const process = {
      pod,
      stop: stop.signal,
      killed: killed.signal,
      print: (line: string) => void printed.push(line),
    };
    const ended = Promise.race([script(launch, process).catch(() => 1), death]).then((exitCode) => ({
      exitCode,
      message: exitCode === 0 ? '' : printed.join('\n'),
    }));
    return { ended, stop: () => stop.abort(), kill: () => killed.abort() };
  }

  return {
    run,
    remember: (launch: Launch) => void launches.set(keyOf(launch), launch),
    logs: (podName: string) => lines.get(podName) ?? [],
  };
}
