import { Download } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { DeleteAccountDialog } from './delete-account-dialog.tsx';
import { useExportData } from './profile-calls.ts';

/** Downloads all data about the user as a file. */
export function ExportCard() {
  const exporting = useExportData();
  return (
    <Card
      title="Your data"
      description="Your profile, keys by name, assets, runs, deployments and transactions as one JSON file."
    >
      <Button loading={exporting.isPending} onClick={() => exporting.mutate()}>
        <Download aria-hidden />
        Download my data
      </Button>
    </Card>
  );
}

/** Deletes the account. */
export function DeleteAccountCard() {
  const [asking, setAsking] = useState(false);
  return (
    <Card
      title="Delete account"
      description="Deletes your account and everything in it. This cannot be undone."
    >
      <Button onClick={() => setAsking(true)}>Delete account…</Button>
      {asking && <DeleteAccountDialog onClose={() => setAsking(false)} />}
    </Card>
  );
}
