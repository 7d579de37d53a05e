import { loadable } from '../../lib/loadable.tsx';
import type { Sheet } from '../../lib/sheet.ts';

declare module '../../lib/sheet.ts' {
  interface Sheets {
    shortcuts: Record<string, never>;
  }
}

const ShortcutsSheet = loadable(async () => (await import('./shortcuts-sheet.tsx')).ShortcutsSheet);

export const shellSheets: Sheet[] = [
  {
    name: 'shortcuts',
    label: 'Keyboard shortcuts',
    preload: ShortcutsSheet.preload,
    render: ({ open, onClose }) => <ShortcutsSheet open={open} onClose={onClose} />,
  },
];
