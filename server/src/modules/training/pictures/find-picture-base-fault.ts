import type { Services } from '../../../platform/context.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { type PipelineIndex, readPipelineIndex } from '../../assets/recognise/read-pipeline-index.ts';

/** The pipelines that a LoRA is trained for. */
const TRAINED = ['FluxPipeline', 'FluxKontextPipeline'];

/** What a FLUX model lacks to be loaded, as the module that serves it knows; null: nothing. */
export type FindFluxFault = (
  model: { title: string; files: AssetRevision['files'] },
  index: PipelineIndex,
) => string | null;

/** Why no LoRA can be trained for a model, as far as its files tell at a glance: a sentence without its full stop, or null. */
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
