import type { InputOf } from '@bakehouse/contract/endpoint';
import {
  type Combination,
  combinationsOf,
  notSweptWith,
  type SweepAxis,
  sweptWith,
} from '@bakehouse/contract/sweep-axes';
import type { quoteSweep } from '@bakehouse/contract/sweeps';
import type { FineTunePayload } from '@bakehouse/contract/training';
import type { Context } from '../../../platform/context.ts';
import { AppError, refused } from '../../../platform/errors.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { isUuid } from '../../../platform/is-uuid.ts';
import { isTextFile, settle, withFormat } from '../fine-tune-spec.ts';
import { checkPayload } from '../start-fine-tune.ts';
import type { FineTuneCheck, TrainingParts } from '../validation/check-fine-tune.ts';
import { withHubModel } from '../with-hub-model.ts';
import { type SaidOfRun, sayOnce } from './say-once.ts';

type Asked = Pick<InputOf<typeof quoteSweep>['body'], 'axes' | 'fine_tune_payload'>;

/** A run that a sweep would have, with what its validation says. */
export type CheckedRun = { combination: Combination; payload: FineTunePayload; check: FineTuneCheck };

export type SweepCheck = {
  /** At least one, in the order of their values. */
  runs: [CheckedRun, ...CheckedRun[]];
  /** What stands in the way, with the field that it is about: then no run starts. */
  faults: { message: string; param: string }[];
};

/**
 * Validates each run of a sweep as if it were started alone, all of them for the same load of the machine and from the same
 * revisions. Runs that read the file alike read it once. Throws what the validation of one throws, and AppError 'conflict' where
 * the files changed meanwhile.
 */
export async function checkSweep(
  ctx: Context,
  parts: TrainingParts,
  { axes, fine_tune_payload: asked }: Asked,
  { reply }: Pick<Http, 'reply'>,
): Promise<SweepCheck> {
  const { slowdown = (await parts.runCpu(ctx.db)).slowdown, ...rest } = await withHubModel(ctx, asked);
  if (!isUuid(rest.base_model))
    throw refused(
      'fine_tune_payload.hf_model_id',
      `You have no clone of ${rest.base_model}: clone it from the public hub first`,
    );
  const [first, ...others] = combinationsOf(axes);
  if (!first) throw new Error('A sweep of no runs');
  const check = async (combination: Combination): Promise<CheckedRun> => {
    const payload = { ...rest, slowdown, ...combination };
    return { combination, payload, check: await checkPayload(ctx, parts, { payload, reply }) };
  };
  const runs: SweepCheck['runs'] = [await check(first)];
  const unsuited = findUnsuited(axes, runs[0]);
  if (unsuited.length > 0) return { runs, faults: unsuited };
  // One after the other: a user reads one file at a time.
  for (const combination of others) runs.push(await check(combination));
  refuseOtherRevisions(runs);
  return { runs, faults: findFaults(axes, runs) };
}

/** Parameters that the training does not have: all runs would be the same. None while it is not known. */
function findUnsuited(axes: readonly SweepAxis[], { payload, check }: CheckedRun): SweepCheck['faults'] {
  const format = check.validation.data?.format ?? null;
  if (!format && !payload.objective && !isTextFile(payload.file_name)) return [];
  const training = settle(withFormat(payload, format));
  return axes.flatMap(({ parameter }, at) =>
    sweptWith(training).includes(parameter)
      ? []
      : [{ message: notSweptWith(training, parameter), param: `axes.${at}.parameter` }],
  );
}

function findFaults(axes: readonly SweepAxis[], runs: CheckedRun[]): SweepCheck['faults'] {
  const paramOf = (about: string | null) => {
    if (about === null) return 'axes';
    const at = axes.findIndex(({ parameter }) => parameter === about);
    return at < 0 ? `fine_tune_payload.${about}` : `axes.${at}.values`;
  };
  const said = runs.flatMap(({ combination, check }) =>
    check.faults.map(({ message, about }): SaidOfRun => ({ combination, message, about })),
  );
  return sayOnce(said, runs.length).map(({ message, about }) => ({ message, param: paramOf(about) }));
}

function refuseOtherRevisions(runs: CheckedRun[]): void {
  const read = runs.map(({ check: { base, dataset } }) => `${base.revision.id} ${dataset.revision.id}`);
  if (new Set(read).size === 1) return;
  throw new AppError('conflict', {
    publicMessage: 'The dataset or the base model changed while it was being read. Please try again',
  });
}
