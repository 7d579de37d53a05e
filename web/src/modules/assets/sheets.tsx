import { loadable } from '../../lib/loadable.tsx';
import type { Sheet } from '../../lib/sheet.ts';

declare module '../../lib/sheet.ts' {
  interface Sheets {
    /** `dropped`: the id of files dropped on the page. */
    'create-dataset': { dropped?: string | undefined };
  }
}

const CreateDatasetSheet = loadable(
  async () => (await import('./create-dataset-sheet.tsx')).CreateDatasetSheet,
);

export const assetSheets: Sheet[] = [
  {
    name: 'create-dataset',
    label: 'Create Dataset',
    page: '/dataset',
    preload: CreateDatasetSheet.preload,
    render: ({ open, onClose, params: { dropped } }) => (
      <CreateDatasetSheet open={open} onClose={onClose} dropped={dropped} />
    ),
  },
];
