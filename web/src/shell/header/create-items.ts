import { Boxes, Database } from 'lucide-react';
import type { FoundItem } from '../palette/sidebar-words.ts';

/** Items of the Create menu. */
export const createItems: FoundItem[] = [
  {
    kind: 'sheet',
    label: 'Create Dataset',
    sheet: 'create-dataset',
    icon: Database,
    words: 'new upload add data',
  },
  {
    kind: 'sheet',
    label: 'Create Model',
    sheet: 'create-model',
    icon: Boxes,
    words: 'new fine-tune train upload',
  },
];
