import { loadable } from '../../lib/loadable.tsx';
import type { Sheet } from '../../lib/sheet.ts';
import type { ModelPreset } from './wizard/model-preset.ts';

declare module '../../lib/sheet.ts' {
  interface Sheets {
    'create-model': ModelPreset;
  }
}

const CreateModelSheet = loadable(
  async () => (await import('./wizard/create-model-sheet.tsx')).CreateModelSheet,
);

export const trainingSheets: Sheet[] = [
  {
    name: 'create-model',
    label: 'Create Model',
    page: '/model',
    preload: CreateModelSheet.preload,
    render: ({ open, onClose, params: { dataset, dataFile, baseModel, modelType, dropped } }) => (
      <CreateModelSheet
        open={open}
        onClose={onClose}
        dataset={dataset}
        dataFile={dataFile}
        baseModel={baseModel}
        dropped={dropped}
        modelType={modelType === 'finetune' ? modelType : undefined}
      />
    ),
  },
];
