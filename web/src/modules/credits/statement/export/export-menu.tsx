import { Braces, Download, Table } from 'lucide-react';
import { saveAs } from '../../../../lib/api/download.ts';
import { localDay } from '../../../../lib/format/format-time.ts';
import { useMutation } from '../../../../lib/mutation/use-mutation.ts';
import { Button } from '../../../../ui/button.tsx';
import { Menu, MenuItem } from '../../../../ui/menu.tsx';
import { useUser } from '../../../accounts/api.ts';
import type { Period } from '../period.ts';
import { readStatement } from './read-statement.ts';
import { statementCsv } from './statement-csv.ts';
import { statementJson } from './statement-json.ts';

const formats = {
  csv: { type: 'text/csv', write: statementCsv },
  json: { type: 'application/json', write: statementJson },
} as const;
type Format = keyof typeof formats;

/** All settled movements of the period, with the balance after each, as a file. */
export function ExportMenu({ period }: { period: Period }) {
  const user = useUser();
  const save = useMutation({
    mutationFn: async (format: Format) => {
      const { type, write } = formats[format];
      const text = write(await readStatement(user.id, period));
      saveAs(new Blob([text], { type }), `statement-${period.to ?? localDay(new Date())}.${format}`);
    },
  });
  return (
    <Menu
      trigger={
        <Button loading={save.isPending}>
          <Download aria-hidden />
          Export
        </Button>
      }
    >
      <MenuItem icon={<Table aria-hidden />} onSelect={() => save.mutate('csv')}>
        CSV
      </MenuItem>
      <MenuItem icon={<Braces aria-hidden />} onSelect={() => save.mutate('json')}>
        JSON
      </MenuItem>
    </Menu>
  );
}
