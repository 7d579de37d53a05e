import { formatBgl } from '@bakehouse/contract/money';
import type { Transaction } from '../../../platform/db/database.ts';
import { hold } from '../../credits/ledger/holds/hold.ts';
import type { RunHold, RunRow } from '../queries.ts';

/** Far longer than a run waits. The hold of a running run is extended. */
export const HOLD_MS = 30 * 24 * 60 * 60 * 1000;

type Held = Pick<RunRow, 'id' | 'kind' | 'userId' | 'keyId' | 'title' | 'modelAssetId' | 'dataset'>;

/**
 * Step: holds credits for a run, at least 1 micro-BGL. `round` distinguishes the holds of one run. Throws
 * AppError('insufficient_funds') or 'budget_exceeded'.
 */
export async function holdForRun(
  tx: Transaction,
  run: Held,
  input: { round: string; amountMicro: bigint; ceilingMicro: bigint; now: Date },
): Promise<RunHold> {
  const micro = input.amountMicro > 0n ? input.amountMicro : 1n;
  const expiresAt = new Date(input.now.getTime() + HOLD_MS);
  const { holdId } = await hold(tx, {
    userId: run.userId,
    amountMicro: micro,
    kind: 'fine_tuning',
    description: `${run.kind === 'export' ? 'Export' : 'Fine-tuning'} of ${run.title} (ceiling: ${formatBgl(input.ceilingMicro)} BGL)`,
    references: {
      asset_name: run.title,
      model_id: run.modelAssetId,
      dataset_id: run.dataset.assetId,
      run_id: run.id,
      ...(run.keyId && { key_id: run.keyId }),
    },
    expiresAt,
    idempotencyKey: `run:${run.id}:${input.round}`,
  });
  return { id: holdId, micro, expiresAt };
}
