import { type FormEvent, useState } from 'react'
import { api, got } from '../../api/client'
import { client } from '../../api/query'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Confirm, Dialog } from '../../ui/dialog'
import { Input } from '../../ui/field'
import { Button } from '../../ui/parts'
import { useGo } from '../../ui/query-state'
import { copyOf, type Engine } from './engine'
import { Menu } from './menu'
import { UsedBy } from './publish'
import { openedKey } from './use-draft'

interface One {
  id: string
  name: string
  slug: string
  isFunction: boolean
}

/** RowMenu is what can be done with a bot or a flow of a list. */
export function RowMenu({ engine, of, list }: { engine: Engine; of: One; list: readonly unknown[] }) {
  const go = useGo()
  const [doing, setDoing] = useState<'rename' | 'delete' | null>(null)
  const close = () => setDoing(null)
  const copy = useAct(
    async () => {
      const opened = await engine.read(of.id)
      const name = t('edit.copyOf', { name: of.name }).slice(0, 200)
      return engine.copy(opened, name, copyOf(opened.document, name))
    },
    {
      said: t('edit.copied'),
      then: async (made) => {
        await client.invalidateQueries({ queryKey: list })
        go(`/flows/${engine.name}/${made.id}`)
      },
    },
  )
  const remove = useAct(() => engine.delete(of.id), {
    then: async () => {
      close()
      client.removeQueries({ queryKey: openedKey(engine, of.id) })
      await client.invalidateQueries({ queryKey: list })
    },
  })
  return (
    <>
      <Menu
        label={t('flows.acts', { name: of.name })}
        items={[
          { label: t('flows.rename'), run: () => setDoing('rename') },
          { label: t('flows.duplicate'), run: () => copy.mutate(undefined) },
          { label: t('flows.delete'), run: () => setDoing('delete'), bad: true },
        ]}
      />
      {doing === 'rename' && <Rename engine={engine} of={of} list={list} close={close} />}
      {doing === 'delete' && of.isFunction && (
        <Dialog
          title={t('flows.deleteOf', { name: of.name })}
          close={close}
          footer={
            <Button tone="bad" busy={remove.isPending} onClick={() => remove.mutate(undefined)}>
              {t('flows.delete')}
            </Button>
          }
        >
          <div className="stack">
            <p>{t('flows.deleteFunction')}</p>
            <UsedBy flow={of.id} />
          </div>
        </Dialog>
      )}
      {doing === 'delete' && !of.isFunction && (
        <Confirm title={t('flows.deleteOf', { name: of.name })} text={t('flows.deleteText')} action={t('flows.delete')} busy={remove.isPending} run={() => remove.mutate(undefined)} close={close} />
      )}
    </>
  )
}

/** Rename changes what people call it and, of a flow, what other flows call it. */
function Rename({ engine, of, list, close }: { engine: Engine; of: One; list: readonly unknown[]; close: () => void }) {
  const [name, setName] = useState(of.name)
  const [slug, setSlug] = useState(of.slug)
  const act = useAct(
    async () => {
      if (engine.name === 'flow' && slug !== of.slug) await got(api.POST('/aiflow/flow/{flowId}/rename', { params: { path: { flowId: of.id } }, body: { slug } }))
      if (name !== of.name) await engine.rename(of.id, name)
    },
    {
      then: async () => {
        close()
        await client.invalidateQueries({ queryKey: list })
        await client.invalidateQueries({ queryKey: openedKey(engine, of.id) })
      },
    },
  )
  return (
    <Dialog title={t('flows.rename')} close={close}>
      <form
        className="stack"
        onSubmit={(event: FormEvent) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        <Input label={t('flows.name')} value={name} onChange={(event) => setName(event.target.value)} wrong={act.wrong('name')} maxLength={200} required autoFocus />
        {engine.name === 'flow' && of.slug !== '' && <Input label={t('flows.slug')} hint={t('flows.slugHint')} value={slug} onChange={(event) => setSlug(event.target.value)} wrong={act.wrong('slug')} required />}
        <div className="row">
          <Button type="submit" tone="main" busy={act.isPending}>
            {t('save')}
          </Button>
          <Button onClick={close}>{t('cancel')}</Button>
        </div>
      </form>
    </Dialog>
  )
}
