import { useState } from 'react'
import { Link } from 'wouter'
import { api, got, type Schemas } from '../../api/client'
import { client } from '../../api/query'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Dialog } from '../../ui/dialog'
import { Input } from '../../ui/field'
import { Badge, Button, Notice } from '../../ui/parts'
import { read } from './draft'
import { Problems } from './problems'

type Imported = Schemas['ImportedProject']

/** Import makes a project of a file: of an export, or of one of Typebot, of which it says what was lost. */
export function Import({ close }: { close: () => void }) {
  const [file, setFile] = useState<File | null>(null)
  const act = useAct(
    async () => {
      const body = read((await file?.text()) ?? '')
      if (!body) throw new Error(t('run.noJSON'))
      return got(api.POST('/aiflow/project/import', { body: body as never }))
    },
    { quiet: true, then: () => client.invalidateQueries({ queryKey: ['projects'] }) },
  )
  if (act.data) return <Report project={act.data} close={close} />
  return (
    <Dialog title={t('flows.import')} close={close} wide>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        <p>{t('flows.importText')}</p>
        <Input label={t('flows.file')} type="file" accept=".json,application/json" onChange={(event) => setFile(event.target.files?.[0] ?? null)} required />
        {act.error && (
          <Notice tone="bad">
            {act.error.message}
            <ul>
              {act.problem?.errors.slice(0, 20).map((one, at) => (
                <li key={at}>
                  <span className="mono small">{one.location}</span> {one.message}
                </li>
              ))}
            </ul>
          </Notice>
        )}
        <div className="row">
          <Button type="submit" tone="main" busy={act.isPending}>
            {t('flows.import')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Report says what came of an import. */
function Report({ project, close }: { project: Imported; close: () => void }) {
  return (
    <Dialog title={t('flows.imported', { name: project.name })} close={close} wide>
      <div className="stack">
        {project.flows.map((flow) => (
          <section key={flow.id} className="stack tight" aria-label={flow.name}>
            <div className="row">
              <Link href={`/flows/flow/${flow.id}`} onClick={close}>
                {flow.name}
              </Link>
              <Badge tone={flow.published ? 'ok' : 'none'}>{t(flow.published ? 'flows.importedLive' : 'flows.draft')}</Badge>
            </div>
            {flow.problems.length > 0 && (
              <>
                <p className="small">{t('flows.lost')}</p>
                <Problems problems={flow.problems} />
              </>
            )}
          </section>
        ))}
      </div>
    </Dialog>
  )
}
