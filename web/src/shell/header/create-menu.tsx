import { Plus } from 'lucide-react';
import { cx } from '../../lib/cx.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { preloadSheets } from '../all-sheets.ts';
import { useGoToItem } from '../navigation/use-go-to-item.ts';
import { createItems } from './create-items.ts';

/** The Create menu: a dataset or a model in a side sheet, and the pages for a picture, a video or a question. */
export function CreateMenu() {
  const goTo = useGoToItem();
  return (
    <Menu
      trigger={
        <button
          type="button"
          onPointerEnter={preloadSheets}
          onFocus={preloadSheets}
          className={cx(buttonClass(), 'max-sm:px-2 max-sm:text-compact max-[26rem]:w-9 max-[26rem]:px-0')}
        >
          <Plus aria-hidden className="min-[26rem]:max-sm:hidden" />
          <span className="max-[26rem]:sr-only">Create</span>
        </button>
      }
    >
      {createItems.map((item) => (
        <MenuItem key={item.label} icon={<item.icon aria-hidden />} onSelect={() => goTo(item)}>
          {item.label}
        </MenuItem>
      ))}
    </Menu>
  );
}
