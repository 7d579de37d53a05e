import { useNavigate } from '@tanstack/react-router';
import { useCallback } from 'react';

/** The side sheets that open over any page; the URL says which (`?create=model`), so that Back closes it. */
export type CreatePanel = {
  create?: 'dataset' | 'model' | undefined;
  /** Preselected in the Create Model wizard. */
  dataset?: string | undefined;
  /** One of the dataset's files. */
  dataFile?: string | undefined;
  baseModel?: string | undefined;
  /** What kind of model is made. */
  modelType?: 'finetune' | undefined;
};

/** Search parameters that the router keeps for the sheets; everything else in them is dropped. */
export function parseCreatePanel(search: Record<string, unknown>): CreatePanel {
  const { create, dataset, dataFile, baseModel, modelType } = search;
  if (create !== 'dataset' && create !== 'model') return {};
  return {
    create,
    ...(typeof dataset === 'string' && { dataset }),
    ...(typeof dataFile === 'string' && { dataFile }),
    ...(typeof baseModel === 'string' && { baseModel }),
    ...(modelType === 'finetune' && { modelType }),
  };
}

/** Opens a sheet over the current page, or closes it with `{}`. */
export function useCreatePanel(): (panel: CreatePanel) => void {
  const navigate = useNavigate();
  return useCallback(
    (panel) => {
      void navigate({
        to: '.',
        search: (previous: Record<string, unknown>) => ({
          ...previous,
          create: undefined,
          dataset: undefined,
          dataFile: undefined,
          baseModel: undefined,
          modelType: undefined,
          ...panel,
        }),
        resetScroll: false,
      } as Parameters<typeof navigate>[0]);
    },
    [navigate],
  );
}
