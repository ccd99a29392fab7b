# The main job: docs/examples.
set(examples_directory ${PROJECT_SOURCE_DIR}/docs/examples)
troupe_test(unit docs/examples character_model
  SOURCES ${examples_directory}/character_model_test.cpp
  DEPS examples_trainer)
troupe_test(unit docs/examples sharded_trainer
  SOURCES ${examples_directory}/sharded_trainer_test.cpp ${examples_directory}/in_process_world.cpp
  DEPS examples_trainer)

troupe_test(processes docs/examples training SOURCES demo_training_test.cpp
  DEPS troupe_test_cli_process TIMEOUT 180)
target_compile_definitions(processes_docs_examples_training PRIVATE
  TRAIN_CHARACTERS="$<TARGET_FILE:train_characters>"
  HELLO_ALL_REDUCE="$<TARGET_FILE:hello_all_reduce>")
add_dependencies(processes_docs_examples_training train_characters hello_all_reduce)

add_test(NAME processes.docs/examples.faults
  COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/fault_demo_test.py
    $<TARGET_FILE:train_through_faults> $<TARGET_FILE:troupe>)
set_tests_properties(processes.docs/examples.faults PROPERTIES LABELS processes TIMEOUT 240)
