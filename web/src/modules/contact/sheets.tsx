import { lazy } from 'react';
import type { Sheet } from '../../lib/sheet.ts';

declare module '../../lib/sheet.ts' {
  interface Sheets {
    contact: Record<string, never>;
  }
}

const loadContactSheet = () => import('./contact-sheet.tsx');
const ContactSheet = lazy(async () => ({ default: (await loadContactSheet()).ContactSheet }));

export const contactSheets: Sheet[] = [
  {
    name: 'contact',
    label: 'Contact Us',
    preload: loadContactSheet,
    render: ({ open, onClose }) => <ContactSheet open={open} onClose={onClose} />,
  },
];
