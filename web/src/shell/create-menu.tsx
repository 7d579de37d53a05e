import { Boxes, Database } from 'lucide-react';
import { type ReactElement, useEffect } from 'react';
import { useCreatePanel } from '../lib/create-panel.ts';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { preloadSheets } from './create-sheets.tsx';

/** Create Dataset and Create Model, each in a side sheet. */
export function CreateMenu({ trigger }: { trigger: ReactElement }) {
  const openPanel = useCreatePanel();
  useEffect(preloadSheets, []);
  return (
    <Menu trigger={trigger} defaultOpen>
      <MenuItem icon={<Database aria-hidden />} onSelect={() => openPanel({ create: 'dataset' })}>
        Create Dataset
      </MenuItem>
      <MenuItem icon={<Boxes aria-hidden />} onSelect={() => openPanel({ create: 'model' })}>
        Create Model
      </MenuItem>
    </Menu>
  );
}
