// The facts of `kept.py`, asked of torch's C++ objects by one C function that torch calls; built and run by `direct.py`.
//
// What `FactsKept` keeps of a call at level `calls` is kept here, too, as numbers in vectors: no Python object is made
// but weak references, which tell when a tensor or a storage dies, and a capsule in each node, which tells when it does.

#include <deque>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <torch/csrc/Storage.h>
#include <torch/csrc/autograd/python_anomaly_mode.h>
#include <torch/csrc/autograd/python_cpp_function.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/extension.h>

namespace {

using torch::autograd::Node;
using torch::autograd::SavedVariable;
constexpr size_t MOST_BYTES_DIGESTED = 4096;

struct Counter {
  int64_t version, place;
};
struct Record {
  int64_t serial, ended = -1;
  const void* key = nullptr;
};
struct StorageRecord : Record {
  int64_t nbytes, made;
  c10::Device device{c10::kCPU};
  bool resizable;
};
struct TensorRecord : Record {
  int64_t version, layout;
  const void* address;
  bool is_view, requires_grad;
  StorageRecord* storage;
  std::shared_ptr<Counter> counter;
};
struct NodeRecord : Record {
  std::string name;
  int64_t number, made;
  std::vector<int64_t> saved;
  std::vector<const void*> behind;
};
struct FunctionFacts {
  bool is_look;
};
struct Hash {
  size_t operator()(const std::vector<int64_t>& numbers) const {
    return std::hash<std::string_view>()(
        {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int64_t)});
  }
};

struct Facts {
  std::vector<int64_t> rows;
  int64_t calls = 0;
  std::unordered_map<uint64_t, int64_t> places;
  std::unordered_map<std::vector<int64_t>, int64_t, Hash> layouts;
  std::deque<TensorRecord> tensors;
  std::deque<StorageRecord> storages;
  std::deque<std::shared_ptr<NodeRecord>> nodes;
  std::unordered_map<const void*, TensorRecord*> live_tensors;
  std::unordered_map<const void*, StorageRecord*> live_storages;
  std::unordered_map<PyObject*, std::pair<TensorRecord*, StorageRecord*>> watched;  // by weak reference
  std::vector<int64_t> scratch;
};
Facts facts;
std::unordered_map<PyObject*, FunctionFacts> functions;
std::unordered_map<PyTypeObject*, std::vector<std::pair<PyObject*, int64_t>>> slots;
PyObject *facts_of, *died, *key_in_node;
PyTypeObject* saved_tensor;

PyObject* on_death(PyObject*, PyObject* reference) {
  auto found = facts.watched.find(reference);
  if (found != facts.watched.end()) {
    auto [tensor, storage] = found->second;
    if (tensor) {
      tensor->ended = facts.calls;
      facts.live_tensors.erase(tensor->key);
    } else {
      storage->ended = facts.calls;
      facts.live_storages.erase(storage->key);
    }
    facts.watched.erase(found);
    Py_DECREF(reference);
  }
  Py_RETURN_NONE;
}

void await(PyObject* object, TensorRecord* tensor, StorageRecord* storage) {
  PyObject* reference = PyWeakref_NewRef(object, died);
  if (!reference) throw py::error_already_set();
  facts.watched.emplace(reference, std::pair(tensor, storage));
}

StorageRecord* known(const c10::Storage& storage, int64_t made) {
  auto* implementation = storage.unsafeGetStorageImpl();
  auto found = facts.live_storages.find(implementation);
  if (found != facts.live_storages.end()) return found->second;
  auto& record = facts.storages.emplace_back();
  record.serial = facts.storages.size();
  record.key = implementation;
  record.nbytes = implementation->nbytes();
  record.resizable = implementation->resizable();
  record.device = implementation->device();
  record.made = made;
  facts.live_storages[implementation] = &record;
  py::object wrapped = py::reinterpret_steal<py::object>(THPStorage_Wrap(storage));
  await(wrapped.ptr(), nullptr, &record);
  return &record;
}

int64_t layout_of(const at::Tensor& tensor) {
  auto& numbers = facts.scratch;
  numbers.assign(tensor.sizes().begin(), tensor.sizes().end());
  numbers.insert(numbers.end(), tensor.strides().begin(), tensor.strides().end());
  numbers.insert(numbers.end(), {tensor.storage_offset(), int64_t(tensor.scalar_type()),
                                 int64_t(tensor.device().type()), tensor.device().index()});
  auto found = facts.layouts.find(numbers);
  if (found != facts.layouts.end()) return found->second;
  return facts.layouts.emplace(numbers, facts.layouts.size()).first->second;
}

TensorRecord* known(PyObject* object, const at::Tensor& tensor, int64_t version, int64_t place, int64_t made) {
  auto found = facts.live_tensors.find(object);
  if (found != facts.live_tensors.end()) return found->second;
  auto& record = facts.tensors.emplace_back();
  record.serial = facts.tensors.size();
  record.key = object;
  record.version = version;
  bool in_memory = tensor.has_storage();
  record.storage = in_memory ? known(tensor.storage(), made) : nullptr;
  record.layout = in_memory ? layout_of(tensor) : -1;
  record.address = in_memory ? tensor.const_data_ptr() : nullptr;
  record.is_view = tensor.is_view();
  record.requires_grad = tensor.requires_grad();
  if (record.is_view) {
    PyObject* base = THPVariable_Wrap(tensor._base());
    auto of_base = facts.live_tensors.find(base);
    if (of_base != facts.live_tensors.end()) record.counter = of_base->second->counter;
    Py_DECREF(base);
  }
  if (!record.counter) record.counter = std::make_shared<Counter>(Counter{version, place});
  facts.live_tensors[object] = &record;
  await(object, &record, nullptr);
  return &record;
}

const std::vector<std::pair<PyObject*, int64_t>>& slots_of(PyObject* node) {
  auto [found, is_new] = slots.try_emplace(Py_TYPE(node));
  if (is_new) {
    for (auto name : py::reinterpret_steal<py::list>(PyObject_Dir(node))) {
      if (!name.cast<std::string>().rfind("_raw_saved_", 0))
        found->second.emplace_back(name.inc_ref().ptr(), found->second.size());
    }
  }
  return found->second;
}

void keep_saved(NodeRecord& record, PyObject* node, const std::vector<std::pair<StorageRecord*, int64_t>>& moved) {
  for (auto [name, slot] : slots_of(node)) {
    auto raw = py::reinterpret_steal<py::object>(PyObject_GetAttr(node, name));
    if (!raw) throw py::error_already_set();
    if (Py_TYPE(raw.ptr()) != saved_tensor) continue;
    const auto& saved = raw.cast<const SavedVariable&>();
    auto data = saved.get_raw_data();
    if (!data || !data->defined() || !data->has_storage()) continue;
    auto* memory = known(data->storage(), facts.calls);
    int64_t version = data->_version(), digest = 0;
    for (auto [storage, before] : moved)
      if (storage == memory) version = before;
    size_t nbytes = memory->nbytes;
    if (nbytes <= MOST_BYTES_DIGESTED)
      digest = std::hash<std::string_view>()({static_cast<const char*>(data->storage().data()), nbytes});
    record.saved.insert(record.saved.end(), {slot, version, memory->serial, layout_of(*data), digest,
                                             int64_t(saved.retrieve_unpack_hook_data().has_value())});
  }
}

void node_died(PyObject* capsule) {
  auto* record = static_cast<std::shared_ptr<NodeRecord>*>(PyCapsule_GetPointer(capsule, nullptr));
  (*record)->ended = facts.calls;
  delete record;
}

// The number of a tensor's node; nodes that lead to it and were not seen before get a record.
int64_t follow(const at::Tensor& result, const std::vector<std::pair<StorageRecord*, int64_t>>& moved) {
  auto first = result.grad_fn();
  if (!first) return -1;
  int64_t number = -1;
  std::vector<c10::intrusive_ptr<Node>> todo{first};
  while (!todo.empty()) {
    auto node = std::move(todo.back());
    todo.pop_back();
    auto* metadata = static_cast<torch::autograd::PyAnomalyMetadata*>(node->metadata());
    if (auto* seen = PyDict_GetItem(metadata->dict(), key_in_node)) {
      if (number < 0)
        number = (*static_cast<std::shared_ptr<NodeRecord>*>(PyCapsule_GetPointer(seen, nullptr)))->serial;
      continue;
    }
    auto record = std::make_shared<NodeRecord>();
    record->serial = facts.nodes.size();
    facts.nodes.push_back(record);
    if (number < 0) number = record->serial;
    auto* held = new std::shared_ptr<NodeRecord>(record);
    auto capsule = py::reinterpret_steal<py::object>(PyCapsule_New(held, nullptr, node_died));
    PyDict_SetItem(metadata->dict(), key_in_node, capsule.ptr());
    record->name = node->name();
    record->number = node->sequence_nr();
    record->made = facts.calls;
    auto wrapped = py::reinterpret_steal<py::object>(torch::autograd::functionToPyObject(node));
    keep_saved(*record, wrapped.ptr(), moved);
    for (const auto& edge : node->next_edges()) {
      record->behind.push_back(edge.function.get());
      if (edge.function) todo.push_back(edge.function);
    }
  }
  return number;
}

int64_t place_now() {
  uint64_t hash = 14695981039346656037ULL;
  auto* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame) {
    auto* code = PyFrame_GetCode(frame);
    hash = (hash ^ reinterpret_cast<uint64_t>(code)) * 1099511628211ULL;
    hash = (hash ^ uint64_t(PyFrame_GetLasti(frame))) * 1099511628211ULL;
    Py_DECREF(code);
    auto* caller = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = caller;
  }
  return facts.places.emplace(hash, facts.places.size()).first->second;
}

void gather(PyObject* value, std::vector<PyObject*>& into) {
  if (THPVariable_CheckExact(value)) {
    into.push_back(value);
  } else if (PyTuple_CheckExact(value) || PyList_CheckExact(value)) {
    for (Py_ssize_t at = 0, size = PySequence_Fast_GET_SIZE(value); at < size; at++)
      if (auto* each = PySequence_Fast_GET_ITEM(value, at); THPVariable_CheckExact(each)) into.push_back(each);
  }
}

const FunctionFacts& facts_for(PyObject* function) {
  auto found = functions.find(function);
  if (found != functions.end()) return found->second;
  auto answer = py::handle(facts_of)(py::handle(function));
  Py_INCREF(function);
  return functions.emplace(function, FunctionFacts{answer.attr("is_look").cast<bool>()}).first->second;
}

// (the mode, func, types, args, kwargs), as torch hands them to a function mode.
PyObject* torch_function(PyObject*, PyObject* const* handed, Py_ssize_t count) {
  PyObject *function = handed[1], *args = handed[3], *kwargs = count > 4 && handed[4] != Py_None ? handed[4] : nullptr;
  try {
    if (facts_for(function).is_look) return PyObject_Call(function, args, kwargs);
    std::vector<PyObject*> given;
    for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(args); at++) gather(PyTuple_GET_ITEM(args, at), given);
    if (kwargs) {
      PyObject *name, *value;
      for (Py_ssize_t at = 0; PyDict_Next(kwargs, &at, &name, &value);) gather(value, given);
    }
    auto& rows = facts.rows;
    int64_t place = place_now(), now = facts.calls++;
    rows.insert(rows.end(), {int64_t(function), place, int64_t(at::GradMode::is_enabled()), int64_t(given.size())});
    std::vector<TensorRecord*> records;
    for (auto* object : given) {
      const auto& tensor = THPVariable_Unpack(object);
      int64_t version = tensor.is_inference() ? 0 : tensor._version();
      auto* record = known(object, tensor, version, place, -1);
      if (version != record->version) {
        rows.insert(rows.end(), {-1, record->version});
        record->version = record->counter->version = version;
      }
      rows.insert(rows.end(), {record->serial, version});
      record->counter->place = place;
      records.push_back(record);
    }
    PyObject* result = PyObject_Call(function, args, kwargs);
    if (!result) return nullptr;
    std::vector<std::pair<StorageRecord*, int64_t>> moved;
    for (size_t at = 0; at < given.size(); at++) {
      const auto& tensor = THPVariable_Unpack(given[at]);
      int64_t version = tensor.is_inference() ? 0 : tensor._version();
      auto* record = records[at];
      if (version == record->version) continue;
      moved.emplace_back(record->storage, record->version);
      rows.insert(rows.end(), {-2, record->serial, record->version});
      record->version = record->counter->version = version;
    }
    std::vector<PyObject*> produced;
    gather(result, produced);
    for (auto* object : produced) {
      const auto& tensor = THPVariable_Unpack(object);
      int64_t version = tensor.is_inference() ? 0 : tensor._version();
      auto* record = known(object, tensor, version, place, now);
      bool followed = record->storage && tensor.requires_grad();
      rows.insert(rows.end(), {record->serial, version, tensor.requires_grad(), followed ? follow(tensor, moved) : -1});
    }
    return result;
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

void begin() {
  for (auto& [reference, records] : facts.watched) Py_DECREF(reference);
  facts = Facts();
}

PyMethodDef on_death_method{"died", on_death, METH_O, nullptr};
PyMethodDef torch_function_method{"torch_function", reinterpret_cast<PyCFunction>(torch_function), METH_FASTCALL, nullptr};

}  // namespace

PYBIND11_MODULE(direct_facts, module) {
  facts_of = py::object(py::module_::import("inplace_magic.capture.torch.functions").attr("facts_of")).release().ptr();
  saved_tensor = reinterpret_cast<PyTypeObject*>(
      py::object(py::module_::import("torch._C._autograd").attr("SavedTensor")).release().ptr());
  key_in_node = PyUnicode_InternFromString("direct");
  died = PyCFunction_New(&on_death_method, nullptr);
  auto function = py::reinterpret_steal<py::object>(PyCFunction_New(&torch_function_method, nullptr));
  module.attr("torch_function") = py::reinterpret_steal<py::object>(PyInstanceMethod_New(function.ptr()));
  module.def("begin", &begin, "Forgets all.");
  module.def("kept", [] {
    return py::make_tuple(facts.calls, facts.tensors.size(), facts.storages.size(), facts.nodes.size(), facts.places.size(),
                          facts.layouts.size());
  }, "Calls, tensors, storages, nodes, places and layouts that were kept.");
}
