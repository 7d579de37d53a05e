/**
 * Decides what a text server needs next. Pure: the caller reads the rows and carries the
 * actions out in one transaction.
 */
export type ServerWorkload = {
  id: string;
  /** `ended` covers stopped and failed for good. */
  state: 'coming' | 'ready' | 'ended';
  /** Keys of the adapters that it carries (revision ids). */
  adapters: string[];
};

export type TextServerView = {
  /** Answers now, or is the first to come. */
  current: ServerWorkload | null;
  /** Comes up beside it with another set of adapters. */
  next: ServerWorkload | null;
  /** Adapters of all deployments that have not been terminated. */
  wantedAdapters: string[];
  /** Whether anybody needs it: an awake deployment, or recent use of the base. */
  wanted: boolean;
};

export type TextServerAction =
  | { type: 'stop'; workloadId: string }
  | { type: 'start'; as: 'current' | 'next'; adapters: string[] }
  | { type: 'promote'; workloadId: string }
  | { type: 'forget'; which: 'current' | 'next' };

export function planTextServer(view: TextServerView): TextServerAction[] {
  const { current, next, wantedAdapters, wanted } = view;
  const carries = (workload: ServerWorkload) => wantedAdapters.every((key) => workload.adapters.includes(key));

  if (!wanted) {
    return (['current', 'next'] as const).flatMap((which): TextServerAction[] => {
      const workload = which === 'current' ? current : next;
      if (!workload) return [];
      const forget: TextServerAction = { type: 'forget', which };
      return workload.state === 'ended' ? [forget] : [{ type: 'stop', workloadId: workload.id }, forget];
    });
  }

  if (next && next.state === 'ready') {
    const stopOld: TextServerAction[] =
      current && current.state !== 'ended' ? [{ type: 'stop', workloadId: current.id }] : [];
    // The traffic moves first: the old one then drains what it had begun.
    return [{ type: 'promote', workloadId: next.id }, ...stopOld];
  }
  if (!current || current.state === 'ended') {
    // A next one that is already coming takes over when it is ready.
    if (next && next.state === 'coming' && carries(next)) return [];
    const stopNext: TextServerAction[] =
      next && next.state === 'coming' ? [{ type: 'stop', workloadId: next.id }, { type: 'forget', which: 'next' }] : [];
    return [...stopNext, { type: 'start', as: 'current', adapters: wantedAdapters }];
  }
  // Adapters that nobody wants any more do no harm: they leave with the next restart.
  if (carries(current)) {
    return next && next.state === 'coming'
      ? [{ type: 'stop', workloadId: next.id }, { type: 'forget', which: 'next' }]
      : [];
  }
  if (next && next.state === 'coming' && carries(next)) return [];
  const stopNext: TextServerAction[] =
    next && next.state === 'coming' ? [{ type: 'stop', workloadId: next.id }] : [];
  return [...stopNext, { type: 'start', as: 'next', adapters: wantedAdapters }];
}
