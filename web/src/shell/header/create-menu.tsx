import { type ReactElement, useEffect } from 'react';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { preloadSheets } from '../all-sheets.ts';
import { useGoToItem } from '../navigation/use-go-to-item.ts';
import { createItems } from './create-items.ts';

/** The Create menu: Create Dataset and Create Model, each in a side sheet. */
export function CreateMenu({ trigger }: { trigger: ReactElement }) {
  const goTo = useGoToItem();
  useEffect(preloadSheets, []);
  return (
    <Menu trigger={trigger} defaultOpen>
      {createItems.map((item) => (
        <MenuItem key={item.label} icon={<item.icon aria-hidden />} onSelect={() => goTo(item)}>
          {item.label}
        </MenuItem>
      ))}
    </Menu>
  );
}
