import { ResourcePage } from '../../../ui/resource/resource-page.tsx';
import { AccessBadge } from './access-badge.tsx';
import { RestrictedModelList } from './restricted-model-list.tsx';

/** All restricted models with the status of the user's requests. */
export function RestrictedModelsPage() {
  return (
    <ResourcePage
      title="Restricted models"
      parents={[{ label: 'My Models', to: '/model' }]}
      description="Request access on a model’s page. An operator decides."
    >
      <RestrictedModelList
        description="An operator adds them. You can then request access to them here."
        renderEnd={({ access }) => <AccessBadge access={access} />}
      />
    </ResourcePage>
  );
}
