import { lazy } from 'react';
import type { Sheet } from '../../lib/sheet.ts';

declare module '../../lib/sheet.ts' {
  interface Sheets {
    shortcuts: Record<string, never>;
  }
}

const loadShortcutsSheet = () => import('./shortcuts-sheet.tsx');
const ShortcutsSheet = lazy(async () => ({ default: (await loadShortcutsSheet()).ShortcutsSheet }));

export const shellSheets: Sheet[] = [
  {
    name: 'shortcuts',
    label: 'Keyboard shortcuts',
    preload: loadShortcutsSheet,
    render: ({ open, onClose }) => <ShortcutsSheet open={open} onClose={onClose} />,
  },
];
