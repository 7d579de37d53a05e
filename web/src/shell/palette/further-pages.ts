import { CloudDownload, FileText, Images, Lock } from 'lucide-react';
import type { FoundItem } from './sidebar-words.ts';

/** Pages that have no place in the sidebar: the palette leads to them too. */
export const furtherPages: FoundItem[] = [
  {
    kind: 'route',
    label: 'Gallery',
    to: '/gallery',
    icon: Images,
    words: 'generations pictures images history prompts compare',
  },
  {
    kind: 'route',
    label: 'Model Hub',
    to: '/model-hub',
    icon: CloudDownload,
    words: 'clone hugging face download search import models datasets gated token',
  },
  {
    kind: 'route',
    label: 'Rows from documents',
    to: '/drafts',
    icon: FileText,
    words: 'drafts pdf docx word markdown questions answers synthetic data recipes generate dataset',
  },
  {
    kind: 'route',
    label: 'Restricted Models',
    to: '/model/source',
    icon: Lock,
    words: 'gated request access licence',
  },
];
