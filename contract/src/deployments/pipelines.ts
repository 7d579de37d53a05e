import type { ImageDeploymentKind } from './images.ts';

/** The pipelines that each kind serves, as `model_index.json` names them: those that edit generate as well. */
const imagePipelines = {
  flux: ['FluxPipeline', 'FluxKontextPipeline'],
  'flux-kontext': ['FluxKontextPipeline'],
  paris: ['DDMPipeline'],
  wan: ['WanPipeline', 'WanImageToVideoPipeline'],
} as const satisfies Record<ImageDeploymentKind, readonly string[]>;

/** Whether a model of this pipeline can be deployed as the kind; a model of none cannot. */
export function isServedAs(kind: ImageDeploymentKind, pipeline: string | null): boolean {
  return imagePipelines[kind].some((served) => served === pipeline);
}

/** Whether a model of this pipeline can be deployed as an image model of some kind. */
export function isImageModel(pipeline: string | null): boolean {
  return Object.values(imagePipelines)
    .flat()
    .some((served) => served === pipeline);
}
