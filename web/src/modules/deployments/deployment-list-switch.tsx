import { useNavigate } from '@tanstack/react-router';
import { Segmented } from '../../ui/segmented.tsx';

const lists = [
  { value: 'text', label: 'Text models' },
  { value: 'images', label: 'Image models' },
] as const;

type List = (typeof lists)[number]['value'];

/** Leads from the deployments of text models to those of image models, and back. */
export function DeploymentListSwitch({ shown }: { shown: List }) {
  const navigate = useNavigate();
  return (
    <Segmented<List>
      label="Which deployments"
      value={shown}
      onChange={(list) =>
        void navigate({ to: list === 'images' ? '/my-deployments/images' : '/my-deployments' })
      }
      options={lists}
      className="mb-5"
    />
  );
}
