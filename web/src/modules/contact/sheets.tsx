import { loadable } from '../../lib/loadable.tsx';
import type { Sheet } from '../../lib/sheet.ts';

declare module '../../lib/sheet.ts' {
  interface Sheets {
    contact: Record<string, never>;
  }
}

const ContactSheet = loadable(async () => (await import('./contact-sheet.tsx')).ContactSheet);

export const contactSheets: Sheet[] = [
  {
    name: 'contact',
    label: 'Contact Us',
    preload: ContactSheet.preload,
    render: ({ open, onClose }) => <ContactSheet open={open} onClose={onClose} />,
  },
];
