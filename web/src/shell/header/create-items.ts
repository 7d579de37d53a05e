import { Boxes, Clapperboard, Database, ImagePlus, MessageSquare } from 'lucide-react';
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
  {
    kind: 'route',
    label: 'Generate a picture',
    to: '/instant-generation',
    icon: ImagePlus,
    words: 'create image prompt draw',
  },
  { kind: 'route', label: 'Generate a video', to: '/wan', icon: Clapperboard, words: 'create clip prompt' },
  { kind: 'route', label: 'Ask a question', to: '/chat', icon: MessageSquare, words: 'create conversation' },
];
