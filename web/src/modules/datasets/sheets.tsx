import { lazy } from 'react';
import type { Sheet } from '../../lib/sheet.ts';

declare module '../../lib/sheet.ts' {
  interface Sheets {
    /** `dropped`: the id of files dropped on the page. */
    'create-dataset': { dropped?: string | undefined };
  }
}

const loadCreateDatasetSheet = () => import('./create-dataset-sheet.tsx');
const CreateDatasetSheet = lazy(async () => ({
  default: (await loadCreateDatasetSheet()).CreateDatasetSheet,
}));

export const assetSheets: Sheet[] = [
  {
    name: 'create-dataset',
    label: 'Create Dataset',
    page: '/dataset',
    preload: loadCreateDatasetSheet,
    render: ({ open, onClose, params: { dropped } }) => (
      <CreateDatasetSheet open={open} onClose={onClose} dropped={dropped} />
    ),
  },
];
