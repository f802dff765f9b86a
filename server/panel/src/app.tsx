import { QueryClientProvider } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { Route, Router, Switch } from 'wouter'
import { root } from './api/client'
import { client } from './api/query'
import { Gate } from './session'
import { Shell } from './shell/shell'
import { t, useLanguage } from './text'
import { Empty, Loading } from './ui/parts'

const Home = lazy(() => import('./pages/home'))
const Flows = lazy(() => import('./pages/flows'))
const Inbox = lazy(() => import('./pages/inbox'))
const Lines = lazy(() => import('./pages/lines'))
const Runs = lazy(() => import('./pages/runs'))
const Settings = lazy(() => import('./pages/settings'))
const Usage = lazy(() => import('./pages/usage'))
const Webhooks = lazy(() => import('./pages/webhooks'))

export function App() {
  useLanguage()
  return (
    <QueryClientProvider client={client}>
      <Router base={`${root}/panel`}>
        <Gate>
          <Shell>
            <Suspense fallback={<Loading />}>
              <Switch>
                <Route path="/" component={Home} />
                <Route path="/flows/:engine?/:id?" component={Flows} />
                <Route path="/inbox/:reference?/:chat?" component={Inbox} />
                <Route path="/references/:id?" component={Lines} />
                <Route path="/runs/:engine?/:id?" component={Runs} />
                <Route path="/webhooks/:reference?" component={Webhooks} />
                <Route path="/usage" component={Usage} />
                <Route path="/settings" component={Settings} />
                <Route>
                  <Empty title={t('notFound')} />
                </Route>
              </Switch>
            </Suspense>
          </Shell>
        </Gate>
      </Router>
    </QueryClientProvider>
  )
}
