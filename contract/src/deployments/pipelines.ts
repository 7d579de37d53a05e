import type { ImageDeploymentKind } from './images.ts';

/** Pipelines of each kind, as named in `model_index.json`. Editing pipelines can also generate. */
const imagePipelines = {
  flux: ['FluxPipeline', 'FluxKontextPipeline'],
  'flux-kontext': ['FluxKontextPipeline'],
  paris: ['DDMPipeline'],
  wan: ['WanPipeline', 'WanImageToVideoPipeline'],
} as const satisfies Record<ImageDeploymentKind, readonly string[]>;

/** True if a model with this pipeline can be deployed as the kind; models without one cannot. */
export function isServedAs(kind: ImageDeploymentKind, pipeline: string | null): boolean {
  return imagePipelines[kind].some((served) => served === pipeline);
}

/** True if a model with this pipeline can be deployed as any kind of image model. */
export function isImageModel(pipeline: string | null): boolean {
  return Object.values(imagePipelines)
    .flat()
    .some((served) => served === pipeline);
}
