import { blameFailure, type WantedAdapter } from './choose-adapters.ts';

/** A live deployment as a failed start of its model server concerns it. */
export type Concerned = {
  revisionId: string;
  /** It has answered before. */
  proven: boolean;
  /** The failed workload was to carry it. */
  failed: boolean;
  /** A workload that is up carries it all the same. */
  served: boolean;
};

export type Judgement<D> = {
  /** Ended by the failure: they are to blame, or have never answered. */
  doomed: D[];
  /** Put to sleep by it: they have answered before, and their next request tries again. */
  resting: D[];
  /** From now on new adapters are tried one by one. */
  cautious: boolean;
  /** The server itself failed, and with it the base model. */
  serverFailed: boolean;
};

/** What the failed start of a model server means for the deployments on it. Pure. */
export function judgeFailure<D extends Concerned>(
  live: D[],
  failure: { adapters: readonly string[] } | null,
  server: { adapters: WantedAdapter[]; isUp: boolean; cautious: boolean },
): Judgement<D> {
  const { cautious } = server;
  if (!failure) return { doomed: [], resting: [], cautious, serverFailed: false };
  const verdict = blameFailure(failure.adapters, server.adapters);
  switch (verdict.blame) {
    case 'adapter': {
      const doomed = live.filter((one) => one.revisionId === verdict.revisionId);
      return { doomed, resting: [], cautious, serverFailed: false };
    }
    case 'unknown':
      return { doomed: [], resting: [], cautious: true, serverFailed: false };
    case 'server': {
      const left = live.filter((one) => one.failed && !one.served);
      return {
        doomed: left.filter((one) => !one.proven),
        resting: left.filter((one) => one.proven),
        cautious,
        serverFailed: !server.isUp,
      };
    }
  }
}
