import { AppError } from '../../../platform/errors.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import type { PipelineIndex } from '../../assets/recognise/read-pipeline-index.ts';
import { describePipeline, families } from './describe-pipeline.ts';

/** Returns why a FLUX model cannot be loaded, as a sentence without a full stop; null if it can. */
export function findFluxFault(
  model: { title: string; files: AssetRevision['files'] },
  index: PipelineIndex,
): string | null {
  try {
    describePipeline(model, index, families.flux);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.publicMessage;
    throw error;
  }
}
