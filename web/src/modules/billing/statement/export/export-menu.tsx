import { Braces, Download, Table } from 'lucide-react';
import { saveAs } from '../../../../lib/api/download.ts';
import { localDay } from '../../../../lib/format/format-time.ts';
import { useMutation } from '../../../../lib/mutation/use-mutation.ts';
import { Button } from '../../../../ui/button.tsx';
import { Menu, MenuItem } from '../../../../ui/menu.tsx';
import { useUser } from '../../../accounts/session.ts';
import type { Period } from '../period.ts';
import { readKeyStatement } from './read-key-statement.ts';
import { readStatement } from './read-statement.ts';
import { statementCsv } from './statement-csv.ts';
import { statementJson } from './statement-json.ts';

const formats = {
  csv: { type: 'text/csv', write: statementCsv },
  json: { type: 'application/json', write: statementJson },
} as const;
type Format = keyof typeof formats;

type Props = {
  period: Period;
  /** Only usage of this API key. */
  apiKey?: string | undefined;
};

/**
 * Downloads all settled movements of the period, with the balance after each, or only one API key's movements.
 */
export function ExportMenu({ period, apiKey }: Props) {
  const user = useUser();
  const save = useMutation({
    mutationFn: async (format: Format) => {
      const { type, write } = formats[format];
      const text = write(
        apiKey === undefined
          ? await readStatement(user.id, period)
          : await readKeyStatement(user.id, { period, keyId: apiKey }),
      );
      const name = apiKey === undefined ? 'statement' : 'api-key-statement';
      saveAs(new Blob([text], { type }), `${name}-${period.to ?? localDay(new Date())}.${format}`);
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
