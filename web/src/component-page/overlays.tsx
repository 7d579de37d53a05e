import { Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Menu, MenuItem, MenuLink, MenuRadioGroup, MenuSeparator } from '../ui/menu.tsx';
import { PageDrop } from '../ui/page-drop.tsx';
import { Sheet } from '../ui/sheet.tsx';
import { Tooltip } from '../ui/tooltip.tsx';
import { Specimen } from './specimen.tsx';

const kinds = ['Dialog', 'Large dialog', 'ConfirmDialog', 'Sheet', 'Wide sheet'] as const;

export function Overlays() {
  const [open, setOpen] = useState<(typeof kinds)[number] | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      <Specimen name="Dialog, ConfirmDialog, Sheet">
        {kinds.map((kind) => (
          <Button key={kind} onClick={() => setOpen(kind)}>
            {kind}
          </Button>
        ))}
        <Dialog
          open={open === 'Dialog' || open === 'Large dialog'}
          onOpenChange={close}
          size={open === 'Large dialog' ? 'lg' : 'md'}
          title="A dialog"
          description="What it is for."
          footer={<Button variant="primary">Save</Button>}
        >
          Content
        </Dialog>
        <ConfirmDialog
          open={open === 'ConfirmDialog'}
          onOpenChange={close}
          title="Delete this dataset?"
          description="Its files are deleted too."
          action="Delete"
          onConfirm={close}
        />
        <Sheet
          open={open === 'Sheet' || open === 'Wide sheet'}
          onClose={close}
          size={open === 'Wide sheet' ? 'xl' : 'md'}
          title="A sheet"
          footer={<Button variant="primary">Save</Button>}
        >
          Content
        </Sheet>
      </Specimen>
      <Specimen name="Menu, Tooltip, PageDrop">
        <Menu trigger={<Button>Menu</Button>}>
          <MenuItem icon={<Pencil aria-hidden />} onSelect={close}>
            Rename
          </MenuItem>
          <MenuLink to="/">A link</MenuLink>
          <MenuSeparator />
          <MenuRadioGroup
            label="Theme"
            value="light"
            onChange={close}
            options={[
              { value: 'light', label: 'Light' },
              { value: 'dark', label: 'Dark' },
            ]}
          />
          <MenuSeparator />
          <MenuItem tone="danger" icon={<Trash2 aria-hidden />} onSelect={close}>
            Delete
          </MenuItem>
        </Menu>
        <Tooltip content="More about it">
          <Button>Tooltip</Button>
        </Tooltip>
        <PageDrop label="Drop a file" onDrop={close}>
          <div className="rounded-lg border border-line border-dashed p-4">Drag a file here</div>
        </PageDrop>
      </Specimen>
    </>
  );
}
