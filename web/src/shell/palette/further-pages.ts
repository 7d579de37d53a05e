import { CloudDownload, FileText, Images, Lock, Rocket } from 'lucide-react';
import type { FoundItem } from './sidebar-words.ts';

/** Pages that are in the palette but not in the sidebar. */
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
    label: 'Deploy picture and video models',
    to: '/my-deployments/images',
    icon: Rocket,
    words: 'flux kontext paris serve inference deployment stop terminate',
  },
  {
    kind: 'route',
    label: 'Model hub',
    to: '/model-hub',
    icon: CloudDownload,
    words: 'clone hugging face download search import models datasets gated token',
  },
  {
    kind: 'route',
    label: 'Generate from documents',
    to: '/drafts',
    icon: FileText,
    words: 'drafts pdf docx word markdown questions answers synthetic data recipes generate dataset',
  },
  {
    kind: 'route',
    label: 'Restricted models',
    to: '/model/source',
    icon: Lock,
    words: 'gated request access license licence',
  },
];
