import type { Services } from '../../../platform/context.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { type PipelineIndex, readPipelineIndex } from '../../assets/recognise/pipelines.ts';

/** Pipelines for which a LoRA can be trained. */
const TRAINED = ['FluxPipeline', 'FluxKontextPipeline'];

/** Returns why a FLUX model cannot be loaded; null if it can. The serving module implements it. */
export type FindFluxFault = (
  model: { title: string; files: AssetRevision['files'] },
  index: PipelineIndex,
) => string | null;

/**
 * Returns why no LoRA can be trained for a model, without a full stop; null if it can. Reads only the list of
 * files and the pipeline index.
 */
export async function findPictureBaseFault(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  { asset: { title, datasetType }, files }: Pick<AssetRevision, 'asset' | 'files'>,
  findFluxFault: FindFluxFault,
): Promise<string | null> {
  if (datasetType !== 'MODEL') return `${title} is a dataset: choose a model as base`;
  const index = await readPipelineIndex(services, files);
  if (!index || !TRAINED.includes(index._class_name))
    return `${title} is no FLUX or FLUX Kontext model: choose one as base`;
  return findFluxFault({ title, files }, index);
}
